import { test } from 'bun:test'
import type * as page from '../../src/console/page/state/operator.ts'
import type * as facts from '../../src/console/page/state/alert.ts'
import type * as overview from '../../src/console/page/overview/machine.ts'
import type * as phone from '../../src/console/page/phone/simulator.ts'
import type { NextFault, RecordedCall } from '../../src/core/simulator-access.ts'
import type { Finding } from '../../src/operator/doctor/finding.ts'
import type { Alerts, SessionAnswer, Tenant, TenantList } from '../../src/operator/schemas.ts'
import type { StatusReport } from '../../src/operator/status.ts'
import { type Same, prove } from '../support/same-type.ts'

test('what the console reads of an operator’s endpoints has the types of their answers', () => {
  prove<Same<page.OpenedSession, SessionAnswer>>()
  prove<Same<page.Tenant, Tenant>>()
  prove<Same<overview.Finding, Omit<Finding, 'ok'>>>()
  prove<Same<facts.Alert, Alerts['alerts'][number]>>()
  prove<StatusReport extends overview.Status ? true : never>()
  prove<Same<page.TenantPage, TenantList>>()
  prove<Same<phone.SimulatorFault, NextFault | null>>()
  prove<Same<phone.SimulatorCall, Omit<RecordedCall, 'at'> & { at: string }>>()
})
