import { closeSync, openSync } from 'node:fs'
import type { Log } from '../../core/log.ts'

const CHECK_EVERY_MS = 250
/** The sleep between two ticks of the event loop. It delays open connections by this much and limits the load to about 1 % of a processor. */
const PAUSE_MS = 5

interface Listener {
  closeIdleConnections(): unknown
}

/**
 * Keeps the process from spinning when no file descriptor is left. A connection that cannot be accepted leaves the listener
 * readable, so Bun's event loop (1.4.4) would run without a pause and fail at every tick. Until a descriptor is free again, this
 * closes idle connections and ends each tick with a short sleep. The returned function ends the watch.
 */
export function watchDescriptors(listener: Listener, { log }: { log: Log }): () => void {
  let isStopped = false
  const plan = (): void => {
    // Real time, because this depends on the machine and on nothing stored.
    setTimeout(check, CHECK_EVERY_MS).unref()
  }
  const check = (): void => {
    if (isStopped) return
    if (hasFreeDescriptor()) plan()
    else slowDown()
  }
  const slowDown = (): void => {
    log.error({}, 'no file descriptor is left, so new connections wait: raise LimitNOFILE or ulimit -n')
    tick()
  }
  const tick = (): void => {
    if (isStopped) return
    if (hasFreeDescriptor()) {
      log.warn({}, 'file descriptors are free again')
      return plan()
    }
    listener.closeIdleConnections()
    Bun.sleepSync(PAUSE_MS)
    setImmediate(tick)
  }
  plan()
  return () => void (isStopped = true)
}

function hasFreeDescriptor(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE'))
  }
}
