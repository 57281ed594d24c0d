/** `j` and `k` move from one item to the next; Tab enters the first. */
export function stepTo(key: string, selector: string): boolean {
  if (key !== 'j' && key !== 'k') return false
  const things = [...document.querySelectorAll<HTMLElement>(selector)]
  const at = things.findIndex((thing) => thing.contains(document.activeElement))
  const next = key === 'j' ? Math.min(at + 1, things.length - 1) : Math.max(at - 1, 0)
  things[next]?.focus()
  return true
}
