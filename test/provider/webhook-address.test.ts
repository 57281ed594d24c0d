import { expect, test } from 'bun:test'
import { isPerhapsSame, isSameAddress } from '../../src/provider/webhook-address.ts'

const OWN = 'https://sms.example.com/sms~1/v1/webhooks/provider'

test.each([
  OWN,
  'HTTPS://SMS.Example.COM/sms~1/v1/webhooks/provider',
  'https://sms.example.com:443/sms~1/v1/webhooks/provider',
  'https://sms.example.com./sms~1/v1/webhooks/provider',
  'https://sms.example.com.:443/sms~1/v1/webhooks/provider',
  'https://sms.example.com/sms~1/v1/webhooks/provider/',
  'https://sms.example.com/sms%7E1/v1/webhooks/provider',
  'https://sms.example.com/sms%7e1/v1/%77ebhooks/provider//',
  'https://sms.example.com/sms~1/./v1/x/../webhooks/provider',
])('%s is the same address', (address) => {
  expect(isSameAddress(address, OWN)).toBe(true)
  expect(isPerhapsSame(address, OWN)).toBe(true)
})

test.each([
  '',
  'https://sms.example.com/SMS~1/V1/Webhooks/Provider',
  'HTTPS://SMS.EXAMPLE.COM/SMS%7E1/V1/WEBHOOKS/PROVIDER/',
])('%p is the same address only of a subscription that is ours by its id', (address) => {
  expect(isSameAddress(address, OWN)).toBe(false)
  expect(isPerhapsSame(address, OWN)).toBe(true)
})

test.each([
  'http://sms.example.com/sms~1/v1/webhooks/provider',
  'https://sms.example.com:8443/sms~1/v1/webhooks/provider',
  'https://sms.example.org/sms~1/v1/webhooks/provider',
  'https://sms.example.com/sms~2/v1/webhooks/provider',
  'https://sms.example.com/v1/webhooks/provider',
  'https://sms.example.com/sms~1/v1/webhooks%2Fprovider',
  'https://sms.example.com/sms~1/v1/webhooks/provider?token=1',
  'https://sms.example.com/sms~1/v1/webhooks/provider-2',
  'sms.example.com/sms~1/v1/webhooks/provider',
  'PubNub',
])('%s is another address', (address) => {
  expect(isSameAddress(address, OWN)).toBe(false)
  expect(isPerhapsSame(address, OWN)).toBe(false)
})
