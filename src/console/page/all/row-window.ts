import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Rows above and below the visible ones. */
const MORE = 15
/** Until the first row can be measured. */
const USUAL_HEIGHT = 48

/** Which rows of a table are visible: only these are drawn. All rows have the same height. */
export function useRowWindow(body: RefObject<HTMLElement | null>, count: number) {
  /** `height` of each row, in pixels. */
  const shown = useSignal({ from: 0, to: 2 * MORE, height: USUAL_HEIGHT })
  useEffect(() => {
    const measure = (): void => {
      const { current } = body
      if (current === null) return
      const height = current.querySelector<HTMLElement>('[aria-rowindex]')?.offsetHeight ?? USUAL_HEIGHT
      const first = Math.floor(-current.getBoundingClientRect().top / height)
      const last = first + Math.ceil(innerHeight / height)
      const [from, to] = [stepped(first - MORE), stepped(last + 2 * MORE)]
      const { value } = shown
      if (from !== value.from || to !== value.to || height !== value.height) shown.value = { from, to, height }
    }
    measure()
    const stop = new AbortController()
    const { signal } = stop
    // The scroller around any part of the page.
    addEventListener('scroll', measure, { capture: true, passive: true, signal })
    addEventListener('resize', measure, { signal })
    return () => stop.abort()
  }, [count])
  return shown.value
}

/** In steps, so that scrolling by one row does not redraw the table. */
const stepped = (row: number): number => Math.max(0, row - (row % MORE))
