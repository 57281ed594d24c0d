/** The Levenshtein distance, counting two swapped letters as one step. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row.at(-1) ?? 0
}

/** The candidate that a misspelled word probably meant; null if none resembles it. */
export function similar(word: string, candidates: readonly string[]): string | null {
  const allowed = ({ length }: string): number => Math.max(1, Math.floor(length / 3))
  const [nearest] = candidates
    // The distance is at least the difference of the lengths, which is cheap to check.
    .filter((candidate) => Math.abs(candidate.length - word.length) <= allowed(candidate))
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= allowed(candidate))
    .toSorted((a, b) => a.distance - b.distance)
  return nearest?.candidate ?? null
}
