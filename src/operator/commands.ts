import { z } from 'zod'
import { RegisterBody } from '../features/apps/schemas.ts'
import type { Gateway } from '../gateway.ts'
import { ListApps, OneApp, activateApp, createApp, deactivateApp, listTenantApps, rotateAppKey } from './apps.ts'
import { compact } from './compact.ts'
import type { OperatorContext } from './context.ts'
import { Diagnose, diagnose } from './doctor.ts'
import { Erase, erase } from './erase.ts'
import { RotateKeys, rotateKeys } from './rotate-keys.ts'
import { SendMessage, sendMessage } from './send-message.ts'
import { SimulateInbound, simulateInbound } from './simulate.ts'
import { readStatus } from './status.ts'
import { CreateTenant, SetTenantStatus, createTenant, listTenants, setTenantStatus } from './tenants.ts'
import { Rescue, rescue } from './rescue.ts'
import { Unblock, unblock } from './unblock.ts'
import {
  CreateTenantTrigger,
  DeleteTenantTrigger,
  ListTenantTriggers,
  createTenantTrigger,
  deleteTenantTrigger,
  listTenantTriggers,
} from './triggers.ts'

/** One operator's command. It runs in the server, over its Unix socket, or on the database file if no server runs. */
export interface Command {
  input: z.ZodType
  /**
   * What the command needs. `server`: a running server. `database`: an existing database, because on an empty one in the
   * wrong folder the command would seem to succeed. `nothing`: a missing database is created.
   */
  needs: 'server' | 'database' | 'nothing'
  run(context: OperatorContext, input: unknown): Promise<unknown>
}

const Nothing = z.object({})

export const COMMANDS: Readonly<Record<string, Command>> = {
  'tenant-create': command(CreateTenant, createTenant, 'nothing'),
  'tenant-list': command(Nothing, listTenants),
  'tenant-status': command(SetTenantStatus, setTenantStatus),
  'app-create': command(RegisterBody, createApp),
  'app-list': command(ListApps, listTenantApps),
  'app-activate': command(OneApp, activateApp),
  'app-rotate-key': command(OneApp, rotateAppKey),
  'app-deactivate': command(OneApp, deactivateApp),
  status: command(Nothing, readStatus),
  doctor: command(Diagnose, diagnose),
  'keys-rotate': command(RotateKeys, rotateKeys),
  'trigger-create': command(CreateTenantTrigger, createTenantTrigger),
  'trigger-list': command(ListTenantTriggers, listTenantTriggers),
  'trigger-delete': command(DeleteTenantTrigger, deleteTenantTrigger),
  unblock: command(Unblock, unblock),
  compact: command(Nothing, compact),
  rescue: command(Rescue, rescue, 'server'),
  erase: command(Erase, erase),
  send: command(SendMessage, sendMessage, 'server'),
  'simulate-inbound': {
    input: SimulateInbound,
    needs: 'server',
    run: (context, input) => simulateInbound(context, SimulateInbound.parse(input)),
  },
}

function command<Schema extends z.ZodType>(
  input: Schema,
  run: (gateway: Gateway, input: z.output<Schema>) => Promise<unknown>,
  needs: Command['needs'] = 'database',
): Command {
  return { input, needs, run: ({ gateway }, value) => run(gateway, value as z.output<Schema>) }
}
