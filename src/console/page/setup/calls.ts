import type { App, NewApp, RegisteredApp, RotatedKey } from '../../../client/client.ts'
import { asApp, asOperator, operator } from '../state/caller.ts'
import type { Tenant } from '../state/operator.ts'

/** Nothing announces a change of an extension, an app or a tenant, so they are read again this often. */
export const READ_EVERY_MS = 15_000

export const createTenant = (name: string): Promise<Tenant> =>
  asOperator().request('POST', '/v1/operator/tenants', { body: { name } })

// An operator can change each app, regardless of the app that the console acts as; an app's key only its own.

/** Creates an app; its key is in this answer alone. */
export const createApp = (app: NewApp): Promise<RegisteredApp> =>
  operator.value === null
    ? asApp().apps.register(app)
    : asOperator().request('POST', '/v1/operator/apps', { body: app })

export const rotateKey = ({ appId }: App): Promise<RotatedKey> =>
  operator.value === null ? asApp().apps.rotateKey(appId) : postAsOperator(appId, 'rotate-key')

export const deactivateApp = ({ appId }: App): Promise<unknown> =>
  operator.value === null ? asApp().apps.deactivate(appId) : postAsOperator(appId, 'deactivate')

export const activateApp = ({ appId }: App): Promise<RotatedKey> => postAsOperator(appId, 'activate')

const postAsOperator = <Answer>(appId: string, verb: string): Promise<Answer> =>
  asOperator().request('POST', `/v1/operator/apps/${appId}/${verb}`)
