//! The elements of a queue, oldest first, in memory of a fixed size.

/// A ring of elements.
#[derive(Debug)]
pub struct Ring<T> {
    /// As long as the capacity.
    elements: Box<[Option<T>]>,
    first: usize,
    count: usize,
}

impl<T> Ring<T> {
    /// An empty ring for this many elements.
    pub fn new(capacity: usize) -> Ring<T> {
        Ring {
            elements: (0..capacity).map(|_| None).collect(),
            first: 0,
            count: 0,
        }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The largest number of elements.
    pub fn capacity(&self) -> usize {
        self.elements.len()
    }

    /// Appends an element. Returns false if there is no room. Async-signal-safe.
    pub fn push(&mut self, element: T) -> bool {
        let place = self
            .place(self.count)
            .filter(|_| self.count < self.capacity());
        let Some(place) = place else { return false };
        self.elements[place] = Some(element);
        self.count += 1;
        true
    }

    /// Removes the oldest element.
    pub fn pop(&mut self) -> Option<T> {
        let place = self.place(0)?;
        let element = self.elements[place].take()?;
        self.first = (self.first + 1) % self.capacity();
        self.count -= 1;
        Some(element)
    }

    /// The element at `index`: from the oldest on, or from the youngest (-1) back.
    pub fn get_mut(&mut self, index: isize) -> Option<&mut T> {
        let from_front = match usize::try_from(index) {
            Ok(index) => index,
            Err(_) => self.count.checked_sub(index.unsigned_abs())?,
        };
        let place = self.place(from_front).filter(|_| from_front < self.count)?;
        self.elements[place].as_mut()
    }

    fn place(&self, from_front: usize) -> Option<usize> {
        (self.first + from_front).checked_rem(self.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_order_and_only_as_many_as_fit() {
        let mut ring = Ring::new(3);
        for turn in 0..5 {
            let pushed = [10, 11, 12, 13].map(|number| ring.push(turn + number));
            assert_eq!(pushed, [true, true, true, false]);
            assert_eq!(ring.get_mut(0), Some(&mut (turn + 10)));
            assert_eq!(ring.get_mut(-1), Some(&mut (turn + 12)));
            assert_eq!(ring.get_mut(-3), Some(&mut (turn + 10)));
            assert_eq!(ring.get_mut(3), None);
            assert_eq!(ring.get_mut(-4), None);
            let popped = [ring.pop(), ring.pop(), ring.pop(), ring.pop()];
            assert_eq!(
                popped.map(|it| it.map(|it| it - turn)),
                [Some(10), Some(11), Some(12), None]
            );
            assert_eq!((ring.count(), ring.capacity()), (0, 3));
            // The start moves on.
            assert!(ring.push(0));
            assert_eq!(ring.pop(), Some(0));
        }
    }

    #[test]
    fn without_room_there_are_no_elements() {
        let mut none = Ring::new(0);
        assert!(!none.push(1));
        assert_eq!(none.pop(), None);
        assert_eq!(none.get_mut(0), None);
    }
}
