import { closeSync, openSync } from 'node:fs'
import type { Log } from '../core/log.ts'

const LOOK_MS = 250
/** Between two turns of the event loop: what is open is served with so much delay, at about a hundredth of a processor. */
const PAUSE_MS = 5

interface Listener {
  closeIdleConnections(): unknown
}

/**
 * Keeps the process from spinning when no file descriptor is left: a connection that cannot be accepted leaves its
 * listener readable, so that Bun's event loop (1.4.4) runs without a pause and fails at every turn. Until there is room
 * again idle connections are closed and each turn ends with a short sleep. The answer ends the watch.
 */
export function watchDescriptors(listener: Listener, { log }: { log: Log }): () => void {
  let isStopped = false
  const plan = (): void => {
    // Real time: it is about this machine, not about anything stored.
    setTimeout(look, LOOK_MS).unref()
  }
  const look = (): void => {
    if (isStopped) return
    if (isLeft()) plan()
    else slowDown()
  }
  const slowDown = (): void => {
    log.error({}, 'no file descriptor is left, so new connections wait: raise LimitNOFILE or ulimit -n')
    turn()
  }
  const turn = (): void => {
    if (isStopped) return
    if (isLeft()) {
      log.warn({}, 'file descriptors are free again')
      return plan()
    }
    listener.closeIdleConnections()
    Bun.sleepSync(PAUSE_MS)
    setImmediate(turn)
  }
  plan()
  return () => void (isStopped = true)
}

function isLeft(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'))
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE'))
  }
}
