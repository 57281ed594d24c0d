import { postTestAlert } from '../alerts/post-alert.ts'
import { systemClock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { AddressGuard, guardRules } from '../../net/outbound/address-guard.ts'
import { Fault } from './fault.ts'
import { type Finding, findingOf } from './finding.ts'

type Parts = Pick<Gateway, 'config' | 'guard' | 'clock'>

/** Posts a test to `ALERT_URL`, as a check of the doctor. */
export const checkAlert = (parts: Parts): Promise<Finding> => findingOf('alert', () => postTest(parts))

async function postTest({ config, guard, clock }: Parts): Promise<string> {
  if (config.alertUrl === null) throw new Fault('ALERT_URL is not set: give the address that alerts are posted to')
  const { statusCode, outcome, errorMessage } = await postTestAlert({ guard, clock }, config.alertUrl)
  if (outcome === 'success') return `a test was posted, and the address answered ${statusCode}`
  throw new Fault(`the test could not be posted (${errorMessage ?? outcome}): check ALERT_URL and what listens there`)
}

/** The same where no gateway can be opened. */
export const checkAlertOffline = (config: Config): Promise<Finding> => {
  const guard = new AddressGuard(guardRules(config))
  return checkAlert({ config, guard, clock: systemClock })
}
