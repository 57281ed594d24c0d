import { expect, test } from 'bun:test'
import { startTestGateway } from '../../src/testing/index.ts'
import { failureOf } from '../support/process.ts'
import { CONTACT, call, send } from './gateways.ts'

test('waitFor takes a text, a pattern or a function, and finds messages that came before', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(CONTACT)
  const early = phone.waitFor('code is')
  await send(gateway, 'Your code is 4711')
  const message = await early
  expect(await phone.waitFor('4711')).toBe(message)
  const pattern = /code is \d+/g
  expect(await phone.waitFor(pattern)).toBe(message)
  expect(await phone.waitFor(pattern)).toBe(message)
  expect(await phone.waitFor(({ text }) => text.endsWith('4711'))).toBe(message)
  expect(phone.inbox).toEqual([message])
})

test('waitFor says what it missed, and what came instead', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(CONTACT)
  await send(gateway, 'Hello')
  await phone.waitFor('Hello')
  const rejected = async (match: string | RegExp | (() => boolean)): Promise<string> =>
    String(await failureOf(phone.waitFor(match, { timeoutMs: 1 })))
  expect(await rejected('Bye')).toBe(
    `Error: No message that matches "Bye" came to ${CONTACT} within 1 ms; it has received "Hello"`,
  )
  expect(await rejected(/By+e/)).toContain('that matches /By+e/')
  expect(await rejected(() => false)).toContain('for which the function is true')
  const other = String(await failureOf(gateway.phone('+15555550198').waitFor('x', { timeoutMs: 1 })))
  expect(other).toContain('it has received nothing')
})

test('the inbox has the messages to this number only, oldest first', async () => {
  await using gateway = await startTestGateway()
  const [first, second] = gateway.numbers
  await send(gateway, 'one')
  await send(gateway, 'elsewhere', { to: '+15555550198' })
  await send(gateway, 'two', { from: second })
  const phone = gateway.phone(CONTACT)
  await phone.waitFor('one')
  await phone.waitFor('two')
  expect(gateway.phone(CONTACT)).toBe(phone)
  expect(new Set(phone.inbox.map(({ from, text }) => `${from} ${text}`))).toEqual(
    new Set([`${first} one`, `${second} two`]),
  )
})

test('reply goes to the number that texted last, else to the first one, and is stored when it resolves', async () => {
  await using gateway = await startTestGateway()
  const phone = gateway.phone(CONTACT)
  const inbound = async (): Promise<unknown[]> =>
    (
      await call<{ messages: { to: string; from: string; body: string }[] }>(
        gateway,
        'GET',
        '/v1/sms/messages?direction=inbound',
      )
    ).messages.map(({ from, to, body }) => [from, to, body])
  await phone.reply('out of the blue')
  expect(await inbound()).toEqual([[CONTACT, gateway.numbers[0], 'out of the blue']])
  await send(gateway, 'Hello', { from: gateway.numbers[2] })
  await phone.waitFor('Hello')
  await phone.reply('C')
  expect((await inbound())[0]).toEqual([CONTACT, gateway.numbers[2], 'C'])
})

test('a phone has a valid number', async () => {
  await using gateway = await startTestGateway()
  expect(() => gateway.phone('Bob')).toThrow('give a number such as +15555550199')
})
