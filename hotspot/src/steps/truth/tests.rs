use super::*;

/// The blob 0x1000 is method 1, with frames of 4 words, records at 0x1010 (method 2, inlined, behind a call) and 0x1020, and
/// stubs from 0x1800 on. The blob 0x2000 is the wrapper of the native method 3, and 0x3000 that of method 4, which moves
/// frames. It says whether method 1 calls no method.
struct Toy(bool);

fn line(method: usize, bci: i32) -> Line {
    Line {
        method,
        bci: Bci::At(bci),
    }
}

impl Facts for Toy {
    fn records(&self, piece: Piece, pc: usize) -> Option<Rc<Records>> {
        let all = [
            (0x1010, vec![line(2, 5), line(1, 7)]),
            (0x1020, vec![line(1, 9)]),
            (0x1030, vec![line(1, 11)]),
        ];
        let find = |is: &dyn Fn(usize) -> bool| {
            let mut found = all.iter().filter(|(at, _)| is(*at));
            found.next().map(|(_, lines)| lines.clone())
        };
        let before = all.iter().rev().find(|(at, _)| *at <= pc);
        let records = || Records {
            exact: find(&|at| at == pc),
            before: before.map(|(_, lines)| lines.clone()),
            behind: find(&|at| at > pc),
            is_of_call: pc == 0x1010,
        };
        (piece.blob == 0x1000).then(|| Rc::new(records()))
    }

    fn method(&self, Piece { blob, .. }: Piece) -> Option<usize> {
        Some(match blob {
            0x1000 => 1,
            0x3000 => 4,
            _ => 3,
        })
    }

    fn bci(&self, _: usize, bcp: usize) -> Option<Bci> {
        Some(Bci::At(bcp as i32))
    }

    fn frame_words(&self, _: Piece) -> Option<usize> {
        Some(4)
    }

    fn is_at_beginning(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        blob == 0x1000 && pc < 0x1008
    }

    fn moves_frames(&self, method: usize) -> bool {
        method == 4
    }

    fn calls_nothing(&self, method: usize) -> bool {
        method == 1 && self.0
    }

    fn is_in_stubs(&self, Piece { blob, .. }: Piece, pc: usize) -> bool {
        blob == 0x1000 && pc >= 0x1800
    }
}

fn piece(blob: usize) -> Piece {
    Piece { blob, id: 0 }
}

const SLOT: usize = 0x8000;

fn compiled(pc: usize, sp: usize) -> Place {
    Place {
        pc,
        sp,
        fp: 0,
        code: Code::Compiled,
        piece: piece(0x1000),
        ..Place::default()
    }
}

/// An interpreted frame of `method` with the frame pointer `fp` has called.
fn interpreted(method: usize, bcp: usize, fp: usize) -> Call {
    Call {
        slot: SLOT,
        ret: 0x77,
        fp,
        code: Code::Interpreter,
        method,
        bcp,
        ..Call::default()
    }
}

fn of_compiled(ret: usize) -> Call {
    Call {
        slot: SLOT,
        ret,
        code: Code::Compiled,
        piece: piece(0x1000),
        ..Call::default()
    }
}

fn found(place: Place, state: Interpreted, calls: &[Call]) -> Lines {
    lines(&place, state, calls, &Toy(false)).expect("all is known")
}

/// The frames of compiled code that an interpreted frame has called.
fn below_interpreted(pc: usize, sp: usize) -> Lines {
    found(compiled(pc, sp), Interpreted::No, &[interpreted(9, 4, 1)])
}

const WHOLE: usize = SLOT - 3 * WORD;

#[test]
fn a_whole_frame_at_a_record_has_the_frames_of_the_record() {
    let lines = below_interpreted(0x1020, WHOLE);
    // A walker that looks for a record from the next address on takes the neighbour.
    let next = Top {
        lines: vec![line(1, 11)],
        is_certain: false,
    };
    assert_eq!(lines.tops, [certain(vec![line(1, 9)]), next]);
    assert_eq!(lines.callers, [line(9, 4)]);
}

#[test]
fn where_a_call_has_returned_its_methods_are_certain_and_its_bci_is_over() {
    let lines = below_interpreted(0x1010, WHOLE);
    let any = Line {
        method: 2,
        bci: Bci::Any,
    };
    let next = Top {
        lines: vec![line(1, 9)],
        is_certain: false,
    };
    assert_eq!(lines.tops, [certain(vec![any, line(1, 7)]), next]);
    assert_eq!(lines.callers, [line(9, 4)]);
    // While the call is under way, its BCI is certain.
    let calls = [interpreted(9, 4, 1), of_compiled(0x1010)];
    let lines = found(Place::default(), Interpreted::No, &calls);
    assert_eq!(lines.callers, [line(2, 5), line(1, 7), line(9, 4)]);
}

#[test]
fn between_records_only_what_both_show_is_certain() {
    let lines = below_interpreted(0x1018, WHOLE);
    assert!(lines.tops.iter().all(|top| !top.is_certain));
    assert_eq!(
        lines.tops.len(),
        3,
        "both records, and the start of the method"
    );
    let lines = below_interpreted(0x1028, WHOLE);
    let any = Line {
        method: 1,
        bci: Bci::Any,
    };
    assert!(lines.tops[0].is_certain);
    assert_eq!(lines.tops[0].lines, [any]);
}

#[test]
fn a_method_that_calls_nothing_has_no_other_inlined() {
    let place = compiled(0x1018, WHOLE);
    let lines = lines(&place, Interpreted::No, &[interpreted(9, 4, 1)], &Toy(true)).unwrap();
    let alone = Line {
        method: 1,
        bci: Bci::NotGiven,
    };
    let certain_ones: Vec<_> = lines.tops.iter().filter(|top| top.is_certain).collect();
    // An answer with a BCI is still that of a neighbour.
    assert_eq!(certain_ones, [&certain(vec![alone])]);
}

#[test]
fn a_whole_frame_that_is_not_declared_complete_is_of_the_method_itself() {
    let lines = below_interpreted(0x1004, WHOLE);
    let certain = lines.tops.iter().filter(|top| top.is_certain);
    let certain: Vec<_> = certain.map(|top| &top.lines[..]).collect();
    assert_eq!(certain, [[line(1, 0)]]);
}

#[test]
fn a_frame_that_is_built_may_be_there_or_not() {
    for sp in [SLOT, SLOT - WORD] {
        let lines = below_interpreted(0x1002, sp);
        let certain = lines.tops.iter().filter(|top| top.is_certain);
        let certain: Vec<_> = certain.map(|top| top.lines.len()).collect();
        assert_eq!(certain, [1, 1, 0], "at BCI 0, at any BCI, or not there");
    }
    // The stub of a call in the caller's own code.
    let lines = found(
        compiled(0x1804, SLOT),
        Interpreted::No,
        &[of_compiled(0x1010)],
    );
    assert_eq!(lines.tops, [certain(vec![])]);
}

#[test]
fn callers_are_those_of_their_records_and_each_interpreted_frame_counts_once() {
    let calls = [
        interpreted(9, 4, 100),
        interpreted(8, 3, 90),
        interpreted(8, 6, 90),
        of_compiled(0x1010),
        Call {
            code: Code::NativeWrapper,
            piece: piece(0x2000),
            ..Call::default()
        },
    ];
    let native = Line {
        method: 3,
        bci: Bci::Native,
    };
    let lines = found(Place::default(), Interpreted::No, &calls);
    assert_eq!(
        lines.callers,
        [native, line(2, 5), line(1, 7), line(8, 6), line(9, 4)]
    );
    let whole = Place {
        fp: 90,
        code: Code::Interpreter,
        ..Place::default()
    };
    let lines = found(whole, Interpreted::Whole(8), &calls[..3]);
    assert_eq!(lines.callers, [line(9, 4)]);
    assert_eq!(lines.tops[0].lines[0].method, 8);
}

#[test]
fn a_caller_without_a_record_is_open_below_a_stub_and_unknown_elsewhere() {
    let stub = Place {
        code: Code::Stub,
        ..Place::default()
    };
    let calls = [interpreted(9, 4, 1), of_compiled(0x1018)];
    let lines = found(stub, Interpreted::No, &calls);
    assert_eq!(lines.callers, [line(9, 4)]);
    assert!(lines.tops.iter().all(|top| !top.is_certain));
    let deeper = [of_compiled(0x1018), interpreted(9, 4, 1)];
    let unknown = super::lines(&stub, Interpreted::No, &deeper, &Toy(false));
    assert_eq!(unknown, Err(Unknown::NoRecord));
}

#[test]
fn a_caller_that_throws_by_a_stub_has_the_frames_of_the_throw() {
    let stub = Place {
        code: Code::Stub,
        ..Place::default()
    };
    let throws = Call {
        origin: 0x1010,
        ..of_compiled(0x1018)
    };
    let lines = found(stub, Interpreted::No, &[interpreted(9, 4, 1), throws]);
    assert_eq!(lines.tops, [certain(vec![line(2, 5), line(1, 7)])]);
    assert_eq!(lines.callers, [line(9, 4)]);
    // A stub that throws does not return: the record behind its call is of other code.
    let throws_before = Call {
        throws: true,
        ..throws
    };
    for ret in [0x1018, 0x1020] {
        let throws = Call {
            ret,
            ..throws_before
        };
        let lines = found(stub, Interpreted::No, &[interpreted(9, 4, 1), throws]);
        assert_eq!(lines.tops, [certain(vec![line(2, 5), line(1, 7)])]);
        let deeper = [throws, interpreted(9, 4, 1)];
        let lines = found(stub, Interpreted::No, &deeper);
        assert_eq!(lines.callers, [line(9, 4), line(2, 5), line(1, 7)]);
    }
    // A record of the call itself comes first.
    let calls = Call {
        origin: 0x1010,
        ..of_compiled(0x1020)
    };
    let lines = found(stub, Interpreted::No, &[calls]);
    assert_eq!(lines.callers, [line(1, 9)]);
    // The stub has called the VM, and that has called Java.
    let deeper = [throws, interpreted(9, 4, 1)];
    let lines = found(stub, Interpreted::No, &deeper);
    assert_eq!(lines.callers, [line(9, 4), line(2, 5), line(1, 7)]);
}

#[test]
fn where_frames_are_moved_there_is_no_truth() {
    let at = |blob| Place {
        code: Code::NativeWrapper,
        piece: piece(blob),
        ..compiled(blob + 8, SLOT - 3 * WORD)
    };
    let of = |blob| lines(&at(blob), Interpreted::No, &[], &Toy(false));
    assert_eq!(of(0x3000), Err(Unknown::Moving));
    assert!(of(0x2000).is_ok());
}
