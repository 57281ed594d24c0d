import type { Clock } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { MAX_MEDIA_BYTES, UPLOAD_STEP_BYTES, UPLOAD_STEP_MS } from '../../core/limits.ts'
import type { SpoolFile } from '../../db/spool-file.ts'

/** Refuses a body whose length cannot be stored, before reading any of it. Errors: `tooLarge`, `mediaEmpty`. */
export function refuseLength({ headers }: Request): void {
  const declared = headers.get('content-length')
  if (declared !== null && Number(declared) > MAX_MEDIA_BYTES) throw apiError('tooLarge')
  if (declared === '0' || (declared === null && !headers.has('transfer-encoding'))) throw apiError('mediaEmpty')
}

/** Reads a body into a file. Errors: `tooLarge`, `mediaEmpty`, `slowBody`, which a client that has gone away does not read. */
export async function readUpload({ body }: Request, clock: Clock, spool: SpoolFile): Promise<void> {
  if (body === null) throw apiError('mediaEmpty')
  const reader = body.getReader() as Reader
  const beganAt = clock.monotonic()
  for (;;) {
    const steps = Math.floor(spool.size / UPLOAD_STEP_BYTES) + 1
    const { done, value } = await within(clock, beganAt + steps * UPLOAD_STEP_MS - clock.monotonic(), reader)
    if (done) break
    if (spool.size + value.length > MAX_MEDIA_BYTES) {
      stopReading(reader)
      throw apiError('tooLarge')
    }
    spool.append(value)
    free(value)
  }
  if (spool.size === 0) throw apiError('mediaEmpty')
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

/** What is read within this time. */
function within(clock: Clock, ms: number, reader: Reader): ReturnType<Reader['read']> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.after(Math.max(0, Math.ceil(ms)), () => {
      reject(apiError('slowBody'))
      stopReading(reader)
    })
    // It fails if the client breaks off the body.
    reader
      .read()
      .then(resolve, () => reject(apiError('slowBody')))
      .finally(cancelTimer)
  })
}

/** A cancelled body ends like a complete one, so nothing may wait for that. */
const stopReading = (reader: Reader): void => void reader.cancel().catch(() => undefined)

/** Frees memory immediately. The garbage collector would keep hundreds of such pieces for seconds. */
function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
