import { APP_ID } from '../core/ids.ts'
import { MAX_LISTED } from '../core/limits.ts'
import type { AppList } from '../operator/schemas.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError } from './context.ts'
import { withHint } from './hints.ts'

export type ListedApp = AppList['apps'][number]

/** Finds an app before asking for confirmation, so that nobody confirms something impossible. Errors: there is none. */
export async function findApp(context: CliContext, appId: string): Promise<ListedApp | undefined> {
  if (!APP_ID.test(appId)) throw new CliError(withHint('badAppId'))
  const { apps } = (await ask(context, { method: 'GET', path: '/v1/operator/apps' })) as AppList
  const found = apps.find((app) => app.appId === appId)
  // If there are very many apps, the list lacks inactive ones; the command itself then refuses.
  if (found === undefined && apps.length > 0 && apps.length < MAX_LISTED) throw new CliError(withHint('appNotFound'))
  return found
}

/** Finds an app that has to be active. Errors: there is none, or it is inactive. */
export async function requireActive(context: CliContext, appId: string): Promise<void> {
  const app = await findApp(context, appId)
  if (app?.isActive === false) throw new CliError(withHint('appInactive'))
}
