import { expect, test } from 'bun:test'
import { reasonOf } from '../../../src/messages/receipts/delivery-codes.ts'

test('a code has its reason, an unknown one names itself, whatever it is called', () => {
  expect(reasonOf('SMS-UP-430')).toBe('Refused as spam')
  expect(reasonOf('SMS-CAR-503')).toBe('The provider failed to send it')
  expect(reasonOf(null)).toBe('Not delivered')
  for (const code of ['SMS-CAR-999', 'constructor', '__proto__', 'toString'])
    expect(reasonOf(code)).toBe(`Not delivered (${code})`)
})
