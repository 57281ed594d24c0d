/** Loads at the first call and keeps the result. `isAnew` loads again. A failed load is not kept: the next call tries again. */
export function loadOnce<T>(load: () => Promise<T>): (isAnew?: boolean) => Promise<T> {
  let kept: Promise<T> | null = null
  return (isAnew = false) => {
    if (isAnew || kept === null) {
      const loading = load()
      kept = loading
      loading.catch(() => (kept = kept === loading ? null : kept))
    }
    return kept
  }
}
