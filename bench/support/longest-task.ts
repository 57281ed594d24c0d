import type { CDPSession } from 'playwright-core'

/** An event of a trace. Its times are in microseconds; `tdur` is processor time of the thread. */
interface TraceEvent {
  name: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

/**
 * Records the tasks of the page's main thread. The returned function ends that, and returns the most processor time of one in milliseconds. On a
 * busy machine a task takes several times as long, because it waits for the processor.
 */
export async function watchTasks(session: CDPSession): Promise<() => Promise<number>> {
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: object[] }): void => void events.push(...(value as TraceEvent[]))
  session.on('Tracing.dataCollected', collect)
  const traceConfig = { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline'] }
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig })
  return async () => {
    const ended = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
    await session.send('Tracing.end')
    await ended
    session.off('Tracing.dataCollected', collect)
    const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}:${tid}`
    const main = new Set(events.filter(({ args }) => args?.name === 'CrRendererMain').map(threadOf))
    const tasks = events.filter((event) => event.name.endsWith('RunTask') && main.has(threadOf(event)))
    return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1000
  }
}
