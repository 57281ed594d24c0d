import { z } from 'zod'
import { RegisterBody } from '../features/apps/schemas.ts'
import type { Gateway } from '../gateway.ts'
import { ActivateApp, ListApps, activateApp, createApp, listTenantApps } from './apps.ts'
import { compact } from './compact.ts'
import type { OperatorContext } from './context.ts'
import { diagnose } from './doctor.ts'
import { Erase, erase } from './erase.ts'
import { RotateKeys, rotateKeys } from './rotate-keys.ts'
import { SendMessage, sendMessage } from './send-message.ts'
import { SimulateInbound, simulateInbound } from './simulate.ts'
import { readStatus } from './status.ts'
import { CreateTenant, SetTenantStatus, createTenant, listTenants, setTenantStatus } from './tenants.ts'
import {
  CreateTenantTrigger,
  DeleteTenantTrigger,
  ListTenantTriggers,
  createTenantTrigger,
  deleteTenantTrigger,
  listTenantTriggers,
} from './triggers.ts'

/** One operator's command: the same over the Unix socket of a running server and on the file itself. */
export interface Command {
  input: z.ZodType
  /** A server must run: the command needs its workers. */
  needsServer: boolean
  run(context: OperatorContext, input: unknown): Promise<unknown>
}

const Nothing = z.object({})

export const COMMANDS: Readonly<Record<string, Command>> = {
  'tenant-create': command(CreateTenant, createTenant),
  'tenant-list': command(Nothing, listTenants),
  'tenant-status': command(SetTenantStatus, setTenantStatus),
  'app-create': command(RegisterBody, createApp),
  'app-list': command(ListApps, listTenantApps),
  'app-activate': command(ActivateApp, activateApp),
  status: command(Nothing, readStatus),
  doctor: command(Nothing, diagnose),
  'keys-rotate': command(RotateKeys, rotateKeys),
  'trigger-create': command(CreateTenantTrigger, createTenantTrigger),
  'trigger-list': command(ListTenantTriggers, listTenantTriggers),
  'trigger-delete': command(DeleteTenantTrigger, deleteTenantTrigger),
  compact: command(Nothing, compact),
  erase: command(Erase, erase),
  send: command(SendMessage, sendMessage, true),
  'simulate-inbound': {
    input: SimulateInbound,
    needsServer: true,
    run: (context, input) => simulateInbound(context, SimulateInbound.parse(input)),
  },
}

function command<Schema extends z.ZodType>(
  input: Schema,
  run: (gateway: Gateway, input: z.output<Schema>) => Promise<unknown>,
  needsServer = false,
): Command {
  return { input, needsServer, run: ({ gateway }, value) => run(gateway, value as z.output<Schema>) }
}
