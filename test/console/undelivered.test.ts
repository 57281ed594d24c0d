import { expect, test } from 'bun:test'
import { undeliveredAdvice, undeliveredShort } from '../../src/console/page/messages/words.ts'

const CODES: readonly [code: string | null, short: string | null, advice: string][] = [
  ['SMS-RC-410', 'cannot receive texts', 'Sending it again will fail again.'],
  ['SMS-UP-410', 'cannot receive texts', 'Sending it again will fail again.'],
  ['SMS-CAR-411', 'cannot receive texts', 'Sending it again will fail again.'],
  ['SMS-CAR-410', 'expired at the carrier', 'Send it again.'],
  ['SMS-CAR-413', 'recipient opted out', 'Sending it again will fail again, until the recipient texts START.'],
  ['SMS-CAR-430', 'refused as spam', 'Change the text before you send it again.'],
  ['SMS-CAR-412', null, 'Whether sending it again helps is unknown.'],
  [null, null, 'Whether sending it again helps is unknown.'],
]

for (const [code, short, advice] of CODES)
  test(`${code ?? 'a text without a code'} is said as ${short ?? 'not delivered alone'}, with what can be done as in docs/after-sent.md`, () => {
    expect(undeliveredShort(code)).toBe(short)
    expect(undeliveredAdvice(code)).toBe(advice)
  })
