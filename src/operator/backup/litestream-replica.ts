import { EXIT, StartError } from '../../core/start-error.ts'
import type { Replica } from '../../db/replicated-gate.ts'
import { syncNow } from './control-socket.ts'
import { type BackupSettings, describeReplica } from './settings.ts'

/** Until somebody restores the permission. */
const REFUSED_PAUSE_MS = 1000

/** The backup's storage, through the Litestream that runs beside the gateway. */
export class LitestreamReplica implements Replica {
  readonly #ended = new AbortController()

  constructor(
    readonly settings: BackupSettings,
    readonly timeoutMs: number,
  ) {}

  store(): Promise<void> {
    return syncNow(this.settings.databasePath, { timeoutMs: this.timeoutMs, signal: this.#ended.signal })
  }

  /**
   * Waits for the first copy after the start of Litestream. `refused`: called when the storage refuses, if it has stored changes for this
   * gateway before; then the request is repeated. Errors: `StartError`, 78 if it refuses otherwise, 69 if it does not store within
   * LITESTREAM_TIMEOUT, or Litestream ends.
   */
  async firstCopy(refused: ((reason: string) => void) | null): Promise<void> {
    const { databasePath, timeoutMs } = this.settings
    for (;;) {
      try {
        return await syncNow(databasePath, { timeoutMs, signal: this.#ended.signal, isFinal: isRefusal })
      } catch (error) {
        const reason = error instanceof Error ? error.message : ''
        if (!isRefusal(reason) || refused === null) throw this.#failedFirstCopy(reason)
        refused(reason)
        await Bun.sleep(REFUSED_PAUSE_MS)
      }
    }
  }

  #failedFirstCopy(reason: string): StartError {
    const where = `The backup at ${describeReplica(this.settings)}`
    if (isRefusal(reason))
      return new StartError(EXIT.badConfig, `${where} cannot be written, and DURABILITY is "replica": ${reason}`)
    return new StartError(
      EXIT.unavailable,
      `${where} does not store the copy, and DURABILITY is "replica": ${reason}. If this is the first copy of a large database, raise LITESTREAM_TIMEOUT`,
    )
  }

  /** Call it when Litestream has ended: nothing will be stored anymore. */
  ended(): void {
    this.#ended.abort()
  }
}

/** Whether the storage will never do this: for a wrong key, bucket or region, or without permission. */
const isRefusal = (reason: string): boolean =>
  /StatusCode: (30\d|400|401|403|404)\b|permission denied|read-only file system/.test(reason)
