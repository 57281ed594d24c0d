import { test } from 'bun:test'
import type * as page from '../../src/console/page/state/operator.ts'
import type { NextFault, RecordedCall } from '../../src/core/simulator-access.ts'
import type { SessionAnswer, Tenant } from '../../src/operator/schemas.ts'
import { type Same, prove } from '../support/same-type.ts'

test('what the console reads of an operator’s endpoints has the types of their answers', () => {
  prove<Same<page.OpenedSession, SessionAnswer>>()
  prove<Same<page.Tenant, Tenant>>()
  prove<Same<page.SimulatorFault, NextFault | null>>()
  prove<Same<page.SimulatorCall, Omit<RecordedCall, 'at'> & { at: string }>>()
})
