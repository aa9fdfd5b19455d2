//! The methods of walkers' keys.
//!
//! The VM posts no event for a class that a thread prepares while it attaches itself. Most such classes are known early
//! (`attached::rehearse`). Any other is looked for when a walk shows a key without a class. Where new classes get no
//! ids (`kept_ids`), nothing is looked for: a look at all classes makes the ids of them all.

use super::called_by_vm::CalledByVm;
use super::hooked::{Hooked, Known, shown_name};
use super::kept_ids::KeptIds;
use super::key_origins::{KeyOrigins, Origin};
use super::sites::Sites;
use super::versions::{Altered, Versions};
use crate::jvm::Jvm;
use crate::jvm::jni::Vm;
use crate::jvm::jvmti::{JMethodId, Jvmti};
use crate::jvm::os::clock;
use crate::locks::{read, write};
use crate::truth::unloading::KnownMethods as Unloaded;
use hotspot::runtime::{is_called_by_vm, is_lambda_form};
use instrumenter::HookedMethod;
use oracle::trace::{Frame, HookId, Location, MethodKey, Methods, Presence, Site};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// All methods seen so far.
pub struct Registry {
    pub(super) vm: Vm,
    pub(super) jvmti: Jvmti,
    pub(super) jvm: &'static Jvm,
    next_id: AtomicU32,
    hooked: RwLock<HashMap<u32, Arc<Hooked>, FxBuildHasher>>,
    known: RwLock<HashMap<usize, Known, FxBuildHasher>>,
    pub(super) origins: KeyOrigins,
    versions: Versions,
    pub(super) sites: Sites,
    called_by_vm: CalledByVm,
    /// Methods whose code another agent has changed after ours.
    pub altered: Altered,
    /// The ids of unloaded classes.
    pub kept_ids: KeptIds,
}

impl Registry {
    /// Knows nothing yet.
    pub fn new(jvm: &'static Jvm) -> Registry {
        Registry {
            vm: jvm.vm,
            jvmti: jvm.jvmti,
            jvm,
            next_id: AtomicU32::new(1),
            hooked: RwLock::default(),
            known: RwLock::default(),
            origins: KeyOrigins::default(),
            versions: Versions::default(),
            sites: Sites::default(),
            called_by_vm: CalledByVm::default(),
            altered: Altered::default(),
            kept_ids: KeptIds::new(jvm.feature),
        }
    }

    /// A number that no hook has.
    pub fn new_id(&self) -> HookId {
        HookId(self.next_id.fetch_add(1, Relaxed))
    }

    /// Adds the hooked methods of a class, before the VM gets its code. `have_ids` says whether they will have ids.
    pub fn add_hooked(
        &self,
        class: &str,
        super_class: Option<&str>,
        methods: Vec<HookedMethod>,
        have_ids: bool,
    ) {
        let class: Arc<str> = class.into();
        let super_class: Option<Arc<str>> = super_class.map(Arc::from);
        let mut hooked = write(&self.hooked);
        for method in methods {
            let id = method.id.0;
            hooked.insert(
                id,
                Arc::new(Hooked {
                    class: class.clone(),
                    super_class: super_class.clone(),
                    method,
                    is_altered: false,
                    has_id: have_ids,
                }),
            );
        }
    }

    /// Adds the methods that are hooks themselves.
    pub fn add_hook_calls(&self, methods: &[JMethodId]) {
        let mut known = write(&self.known);
        known.extend(methods.iter().map(|&method| (method.0, Known::HookCall)));
    }

    /// Adds the keys of a class that was prepared.
    pub fn add_keys(&self, methods: &[JMethodId]) {
        self.origins.add(methods.iter().map(|&method| method.0));
    }

    /// The hook of a method, if the method has a hook.
    pub fn hook_in(&self, method: JMethodId) -> Option<HookId> {
        self.hooked_method(method).ok()?.map(|(id, _)| id)
    }

    /// The hook in the bytecode of a method. Code without hooks may look like a hook: so
    /// the names are compared, too. The code need not be ours any more.
    fn hooked_method(&self, method: JMethodId) -> Result<Option<(HookId, Arc<Hooked>)>, i32> {
        let found = self.jvmti.bytecodes(method, |code| {
            let id = instrumenter::hook_id_of(code)?;
            let hooked = self.by_hook(id)?;
            Some((id, hooked.method.map.is_of(code), hooked))
        })?;
        let Some((id, is_ours, hooked)) = found else {
            return Ok(None);
        };
        let name = self.jvmti.method_name(method)?;
        let is_it =
            *hooked.method.name == *name.name && *hooked.method.descriptor == *name.descriptor;
        Ok(match (is_it, is_ours) {
            (false, _) => None,
            (true, true) => Some((id, hooked)),
            (true, false) => Some((id, self.altered(id, &hooked))),
        })
    }

    /// Notes that another agent has changed the code of a hooked method after ours.
    fn altered(&self, id: HookId, hooked: &Hooked) -> Arc<Hooked> {
        self.altered.add(hooked.full_name());
        let altered = Arc::new(Hooked {
            is_altered: true,
            ..hooked.clone()
        });
        write(&self.hooked).insert(id.0, altered.clone());
        altered
    }

    /// The code that the VM reports of a method, handed to `read`; none for methods without code.
    pub fn bytecodes<T>(&self, key: MethodKey, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let safe = self.is_safe(key);
        let method = JMethodId(key.0);
        safe.then(|| self.jvmti.bytecodes(method, read).ok())?
    }

    /// Forgets the methods of unloaded classes. Returns how many hooks are left, and how many were
    /// forgotten.
    pub fn forget(&self, classes: &[Unloaded]) -> (usize, usize) {
        let keys = || classes.iter().flat_map(|class| &class.keys);
        for class in classes {
            self.kept_ids.unloaded(class.keys.len());
        }
        if keys().next().is_some() {
            let mut known = write(&self.known);
            for key in keys() {
                known.remove(key);
            }
            self.origins.unloaded(keys().copied());
            self.versions.remove(keys().copied());
            self.sites.forget(keys().copied());
            self.called_by_vm.forget(keys().copied());
        }
        let mut hooked = write(&self.hooked);
        let before = hooked.len();
        for hook in classes.iter().flat_map(|class| &class.hooks) {
            hooked.remove(&hook.0);
        }
        (hooked.len(), before - hooked.len())
    }

    /// Whether it is safe to ask the VM about `key`. The key is safe only if the VM gave it out
    /// with a class. A walker may make a key up, and the VM follows any pointer. GetStackTrace also
    /// makes keys for old versions of redefined methods, and may return such a key after the
    /// version is gone: asked about this key, JDK 21 follows a stale pointer.
    pub fn is_safe(&self, key: MethodKey) -> bool {
        key.0 != 0 && self.origin(key) == Origin::Class
    }

    /// The code of the method was exchanged, which was noticed at `time`, in nanoseconds of
    /// [`clock::since_start`].
    pub(super) fn changed(&self, key: MethodKey, time: u64) {
        self.versions.add([key.0].into_iter());
        self.versions.changed(key.0, time);
        self.sites.forget([key.0].into_iter());
    }

    /// The code of `methods` may be replaced. From here on the VM is asked about these methods each
    /// time.
    pub fn redefining(&self, methods: &[JMethodId]) {
        // First of all: a check on another thread that found one of the methods unknown must not
        // find it known, and of one version, when it looks again.
        self.versions.add(methods.iter().map(|&m| m.0));
        self.add_keys(methods);
        for &method in methods {
            // Looks up what they stand for so far.
            self.known(MethodKey(method.0));
        }
    }

    /// The method of a hook.
    pub fn by_hook(&self, hook: HookId) -> Option<Arc<Hooked>> {
        read(&self.hooked).get(&hook.0).cloned()
    }

    /// All hooked methods.
    pub(super) fn all_hooked(
        &self,
    ) -> RwLockReadGuard<'_, HashMap<u32, Arc<Hooked>, FxBuildHasher>> {
        read(&self.hooked)
    }

    /// Whether the method of a hook is a constructor.
    pub fn is_constructor(&self, hook: HookId) -> bool {
        self.by_hook(hook)
            .is_some_and(|hooked| hooked.is_constructor())
    }

    /// Whether the method of `hook` may be a constructor. If `called` is given, it must be a
    /// constructor that calls the constructor `called` as `super(...)` or `this(...)`.
    pub fn is_left_by(&self, called: Option<HookId>, hook: HookId) -> bool {
        let Some(hooked) = self.by_hook(hook) else {
            return false;
        };
        let calls = |called: Arc<Hooked>| {
            if called.class == hooked.class {
                called.method.descriptor != hooked.method.descriptor
            } else {
                hooked.super_class.as_ref() == Some(&called.class)
            }
        };
        hooked.is_constructor()
            && called.is_none_or(|called| self.by_hook(called).is_some_and(calls))
    }

    /// The walkers' key of a hook's method, if a walk has shown the method.
    pub fn key_of(&self, hook: HookId) -> Option<MethodKey> {
        let known = read(&self.known);
        let is_hook = |known: &Known| matches!(known, Known::Hooked(id, _) if *id == hook);
        known
            .iter()
            .find(|(_, known)| is_hook(known))
            .map(|(&key, _)| MethodKey(key))
    }

    /// Looks up a walker's key. The VM is asked the first time: the entry hook in the method's
    /// bytecode identifies the method, whatever its name and loader.
    pub(super) fn known(&self, key: MethodKey) -> Known {
        self.with_known(key, Known::clone)
    }

    /// Looks up a walker's key without a copy, because most callers need one word.
    pub(super) fn with_known<T>(&self, key: MethodKey, look: impl Fn(&Known) -> T) -> T {
        if self.versions.contains(key.0) {
            return look(&self.known_anew(key));
        }
        if let Some(known) = read(&self.known).get(&key.0) {
            return look(known);
        }
        if !self.is_safe(key) {
            return look(&self.not_of_a_class(key));
        }
        let known = self.ask(key);
        let result = look(&known);
        write(&self.known).insert(key.0, known);
        result
    }

    /// The meaning of a key without a class. It is not remembered, because a class may get the key
    /// later.
    fn not_of_a_class(&self, key: MethodKey) -> Known {
        match self.origin(key) {
            Origin::Nowhere if key.0 != 0 && self.versions.is_empty() => Known::Stranger,
            _ => Known::Gone,
        }
    }

    /// All keys that were looked up.
    pub(super) fn all_known(&self) -> RwLockReadGuard<'_, HashMap<usize, Known, FxBuildHasher>> {
        read(&self.known)
    }

    /// Whether the class of the method was redefined.
    pub fn was_redefined(&self, key: MethodKey) -> bool {
        self.versions.contains(key.0)
    }

    /// Whether no class was redefined.
    pub fn has_one_version_each(&self) -> bool {
        self.versions.is_empty()
    }

    /// Whether the key of a redefined method was seen to stand for another version since `time`, in
    /// nanoseconds of [`clock::since_start`].
    pub(super) fn has_changed_since(&self, key: MethodKey, time: u64) -> bool {
        self.known(key);
        self.versions.has_changed_since(key.0, time)
    }

    /// Asks the VM for the current meaning of the key of a redefined method.
    fn known_anew(&self, key: MethodKey) -> Known {
        let now = self.ask(key);
        let last = read(&self.known).get(&key.0).map(Known::hook);
        if last != Some(now.hook()) {
            self.versions.changed(key.0, clock::since_start());
            write(&self.known).insert(key.0, now.clone());
        }
        now
    }

    pub(super) fn ask(&self, key: MethodKey) -> Known {
        const NATIVE_METHOD: i32 = 104;
        const ABSENT_INFORMATION: i32 = 101;
        match key.0 {
            0 => Known::Gone,
            _ => match self.hooked_method(JMethodId(key.0)) {
                Ok(Some((id, hooked))) => Known::Hooked(id, hooked),
                Ok(None) | Err(NATIVE_METHOD | ABSENT_INFORMATION) => Known::Plain,
                Err(_) => Known::Gone,
            },
        }
    }
}

/// Methods whose code was exchanged although no event said so.
///
/// The VM shows retransformed classes to agents alone that may retransform (`JvmtiClassFileLoadHookPoster` in
/// `jvmtiExport.cpp`), and the capability to do so changes compiled code. So the code of a method is looked at again
/// where a walk differs from the truth.
impl Registry {
    /// Looks at the code of the methods of `walk` once more. Where a frame names no method, the methods of
    /// `entries` are looked at, too. What has changed counts as redefined from here on.
    pub(super) fn notice_changes(&self, walk: &[Frame], entries: &[HookId]) {
        let keys = walk.iter().map(|frame| frame.method);
        let names_none = |frame: &Frame| !self.is_safe(frame.method);
        let of_entries = if walk.iter().any(names_none) {
            entries
        } else {
            &[]
        };
        let of_entries = of_entries.iter().filter_map(|&hook| self.key_of(hook));
        for key in keys.chain(of_entries) {
            if !self.was_redefined(key) && self.is_safe(key) && self.has_changed(key) {
                self.changed(key, clock::since_start());
            }
        }
    }

    /// Whether the code of a method is not what it was when the method was met.
    fn has_changed(&self, key: MethodKey) -> bool {
        let is_altered = |known: &Known| known.hooked().is_some_and(|hooked| hooked.is_altered);
        let (before, now) = (self.known(key), self.ask(key));
        before.hook() != now.hook()
            || is_altered(&before) != is_altered(&now)
            || self.sites.has_changed(self.jvmti, key)
    }
}

impl Methods for Registry {
    fn hook(&self, method: MethodKey, location: Location) -> Option<(HookId, Presence)> {
        self.with_known(method, |known| match known {
            Known::Hooked(id, hooked) => Some((*id, hooked.presence(location))),
            _ => None,
        })
    }

    fn is_hook_call(&self, method: MethodKey) -> bool {
        self.with_known(method, |known| matches!(known, Known::HookCall))
    }

    fn is_constructor(&self, hook: HookId) -> bool {
        Registry::is_constructor(self, hook)
    }

    fn may_be_called_by_vm(&self, method: MethodKey) -> bool {
        match self.with_known(method, Known::clone) {
            Known::Hooked(_, hooked) => is_called_by_vm(&hooked.full_name()),
            Known::HookCall | Known::Stranger => false,
            Known::Plain => self.called_by_vm.contains(method, || {
                let named = self.vm.with_env(|env| self.full_name(env, method));
                let (class, name, descriptor) = named.flatten()?;
                Some(shown_name(&class, &name, &descriptor))
            }),
            Known::Gone => true,
        }
    }

    fn most_inlined_alike(&self, hook: HookId) -> Option<usize> {
        let hooked = self.by_hook(hook);
        let has_limit = hooked.is_none_or(|hooked| !is_lambda_form(&hooked.class));
        has_limit.then(|| self.jvm.most_inlined_alike())?
    }

    fn site(&self, method: MethodKey, location: Location) -> Site {
        let gone = || self.with_known(method, |known| matches!(known, Known::Gone));
        // It is not known which version of a redefined method runs.
        if self.versions.contains(method.0) || gone() {
            Site::Unknown
        } else if !self.is_safe(method) {
            if self.is_made_up(method) {
                Site::NotAMethod
            } else {
                Site::Unknown
            }
        } else {
            self.sites.at(self.jvmti, method, location)
        }
    }
}

impl Registry {
    /// The origin of a key.
    pub(super) fn origin(&self, key: MethodKey) -> Origin {
        if self.kept_ids.are_too_many() {
            self.origins.origin_if_known(key.0)
        } else {
            self.origins.origin(key.0, || self.add_all_keys())
        }
    }

    /// The origin of a key, without waiting for its class.
    pub(super) fn origin_at_once(&self, key: MethodKey) -> Origin {
        if self.kept_ids.are_too_many() {
            self.origins.origin_if_known(key.0)
        } else {
            self.origins.origin_at_once(key.0, || self.add_all_keys())
        }
    }

    /// Adds the keys of all prepared classes.
    #[cold]
    fn add_all_keys(&self) {
        self.vm.with_env(|env| {
            for class in self.jvmti.loaded_classes(env).unwrap_or_default() {
                let methods = self.jvmti.create_method_ids(class.get());
                self.add_keys(&methods.unwrap_or_default());
            }
        });
    }

    /// Whether the method of one of `hooks` has no id, because those of unloaded classes take too much memory.
    pub fn lack_ids(&self, mut hooks: impl Iterator<Item = HookId>) -> bool {
        self.kept_ids.are_too_many() && {
            let hooked = self.all_hooked();
            hooks.any(|hook| hooked.get(&hook.0).is_some_and(|method| !method.has_id))
        }
    }
}
