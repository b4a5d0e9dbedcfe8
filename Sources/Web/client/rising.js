// A longest rising sequence: the items that stay when a list is compared with another one.

/**
 * The places of a longest rising sequence of different numbers. O(n log n)
 * @param {readonly number[]} numbers
 */
export function rising(numbers) {
  /**
   * For each length, the place at which the sequence with the smallest end has its end.
   * @type {number[]}
   */
  const ends = [];
  /** @type {number[]} */
  const before = [];
  numbers.forEach((number, place) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    before[place] = low > 0 ? ends[low - 1] : -1;
    ends[low] = place;
  });
  const places = [];
  for (let place = ends[ends.length - 1] ?? -1; place >= 0; place = before[place]) places.push(place);
  return places.reverse();
}
