import { openDataFolder, sizeOf } from '../db/data-folder.ts'
import { readFact, writeFact } from '../db/history-rows.ts'
import { LEFT_FACT } from '../operator/lease/one-worker.ts'
import { asCliError, databasePath } from './backup.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError } from './context.ts'
import { print } from './print.ts'

/**
 * Records in this machine's database that the machine has left the lease, so that it may start without STANDBY even if the object storage
 * names it as the holder or does not answer. Errors: the database has never held a lease, or a gateway runs.
 */
export async function abandonLease(context: CliContext, yes: boolean): Promise<void> {
  const path = databasePath(context)
  const lock = await openDataFolder(path, 0).catch((error: unknown) => {
    throw asCliError(error)
  })
  try {
    const epoch = sizeOf(path) === 0 ? null : readFact(path, 'epoch')
    if (epoch === null) throw new CliError(`${path} was not written under a lease: there is nothing to abandon`)
    await confirm(context, yes, questionOf(epoch))
    writeFact(path, LEFT_FACT, epoch)
    print(context, { abandoned: true, epoch: Number(epoch) })
  } finally {
    lock.release()
  }
}

const questionOf = (epoch: string): string =>
  `This machine will work without the lease (epoch ${epoch}), and store what it accepts only on its own disk. Are all other gateways stopped and unable to start?`
