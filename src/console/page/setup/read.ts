import { useEffect } from 'preact/hooks'
import { type Loading, useLoading } from '../state/loading.ts'

/** Nothing announces a change of an extension, an app or a tenant, so they are read again this often. */
const READ_EVERY_MS = 15_000

/** Reads something now, every 15 seconds while the page is visible, and when a person returns to it. The known value stays. */
export function useRead<Value>(read: () => Promise<Value>, inputs: readonly unknown[]): Loading<Value> {
  const loading = useLoading(read, inputs)
  useEffect(() => {
    const again = (): void => void (document.hidden || loading.again())
    const timer = setInterval(again, READ_EVERY_MS)
    document.addEventListener('visibilitychange', again)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', again)
    }
  }, [loading])
  return loading
}
