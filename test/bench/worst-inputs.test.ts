import { expect, test } from 'bun:test'
import { endpointInputs } from '../../bench/worst-inputs/endpoints.ts'
import type { Input } from '../../bench/worst-inputs/input.ts'
import { callbackInputs, eventInputs, formInputs, notifyInputs, strayInputs } from '../../bench/worst-inputs/special.ts'
import { floorEvents } from '../../bench/support/provider-events.ts'
import { MAX_REQUEST_BODY_BYTES } from '../../src/core/limits.ts'
import { ROUTES } from '../../src/server/app.ts'

const LONGEST_HEAD_BYTES = 16_384

const inputs: Input[] = [
  ...endpointInputs({ key: 'sgw_key', operatorToken: 'sgw_token', ids: {} }),
  ...notifyInputs('sgw_key', 'from=%2B15555550100&to=%2B15555550199'),
  ...formInputs(),
  ...eventInputs(floorEvents()),
  ...callbackInputs(),
  ...strayInputs(),
]

test('every worst input is within the limits, so that it is not refused before it is read', () => {
  for (const { name, bytes } of inputs) {
    const head = bytes.indexOf('\r\n\r\n') + 4
    const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1] ?? '0'
    expect([name, head <= LONGEST_HEAD_BYTES]).toEqual([name, true])
    expect([name, bytes.length - head]).toEqual([name, Number(length)])
    expect([name, Number(length) <= MAX_REQUEST_BODY_BYTES]).toEqual([name, true])
  }
})

test('every endpoint of the listener has one', () => {
  const requested = inputs.map(({ bytes }) => bytes.toString('latin1', 0, bytes.indexOf('?') < 0 ? undefined : 200))
  const seen = (method: string, path: string): boolean => {
    const start = new RegExp(`^${method} ${path.replaceAll(/:\w+/g, '[^ ]+')}[ ?]`)
    return requested.some((text) => start.test(text))
  }
  const documented = ROUTES.filter(({ path }) => !path.startsWith('/v1/operator/simulator/'))
  const missing = documented
    .filter(({ method, path }) => !seen(method, path))
    .map(({ method, path }) => `${method} ${path}`)
  expect(missing).toEqual([])
})
