import type { ProviderEvents } from '../support/provider-events.ts'
import { bodiesFor } from './bodies.ts'
import { BODY_BYTES, HEAD_BYTES, type Input, filledWith, inputOf, listed } from './input.ts'
import { TEXTS, jsonValues } from './values.ts'

const TEMPLATE_UNITS = 2000

/** Alerts whose template reads the body again and again. */
export function notifyInputs(key: string, query: string): Input[] {
  const headers = { Authorization: `Bearer ${key}` }
  const templates = {
    'a value 399 times': filledWith('{{a}}', 1995),
    'the whole list 285 times': filledWith('{{a.0}}', TEMPLATE_UNITS),
    'the longest path': `{{a${filledWith('.a', 1990)}}}`,
    'the longest path of numbers': `{{a${filledWith('.0', 1990)}}}`,
    'a short path of 3': filledWith('{{a.b.c}}', TEMPLATE_UNITS),
    blanks: filledWith(' ', TEMPLATE_UNITS),
    'blanks in braces': `{{a${filledWith(' ', 1990)}}}`,
    'open braces': filledWith('{{', TEMPLATE_UNITS),
  }
  const bodies = jsonValues(BODY_BYTES - 10)
  return Object.entries(templates).flatMap(([template, text]) =>
    Object.entries(bodies).map(([body, value]) =>
      inputOf(`${template}, ${body}`, {
        method: 'POST',
        path: `/v1/sms/notify?${query}&text=${encodeURIComponent(text)}`,
        headers: { ...headers, 'Idempotency-Key': 'k' },
        body: `{"a":${value}}`,
      }),
    ),
  )
}

/** Forms, which are read without a key. */
export const formInputs = (): Input[] =>
  Object.entries({
    'fields of a form': listed((n) => n.toString(36), BODY_BYTES, '&'),
    'one field again and again': filledWith('a&', BODY_BYTES),
    'fields with values': listed((n) => `${n.toString(36)}=%41`, BODY_BYTES, '&'),
    'the token again and again': filledWith('token=1&', BODY_BYTES),
    'percent signs': `token=${filledWith('%', BODY_BYTES - 6)}`,
    'escaped letters': `token=${filledWith('%41', BODY_BYTES - 6)}`,
  }).map(([name, body]) => inputOf(name, { method: 'POST', path: '/v1/rc/connect', body }))

/** Events with the provider's token. */
export function eventInputs(events: ProviderEvents): Input[] {
  const headers = { 'Verification-Token': events.subscription.verificationToken }
  const path = '/v1/webhooks/provider'
  const { body: message, ...envelope } = JSON.parse(events.requests(1)[0]?.split('\r\n\r\n')[1] ?? '') as {
    body: Record<string, unknown>
  }
  const rest = JSON.stringify(envelope).slice(0, -1)
  const ofMessage = bodiesFor({ ...message, attachments: [] }, BODY_BYTES - rest.length - 20)
  const inner = Object.entries(ofMessage).map(([name, text]) =>
    inputOf(`message, ${name}`, { method: 'POST', path, headers, body: `${rest},"body":${text}}` }),
  )
  const outer = Object.entries(bodiesFor({ ...envelope, body: message })).map(([name, body]) =>
    inputOf(name, { method: 'POST', path, headers, body }),
  )
  return [...outer, ...inner]
}

/** The redirect of the provider's login. */
export const callbackInputs = (): Input[] =>
  Object.entries(TEXTS).map(([name, text]) =>
    inputOf(`state and code of ${name}`, {
      method: 'GET',
      path: `/v1/rc/callback?format=json&code=${filledWith(encodeURIComponent(text), 7000)}&state=${filledWith(encodeURIComponent(text), 7000)}`,
    }),
  )

/** The longest pages. */
export const listInputs = (key: string, cursor: string): Input[] =>
  [
    `/v1/events?after=${cursor}&limit=1000`,
    '/v1/sms/messages?limit=100&include=delivery',
    '/v1/conversations?limit=100&include=delivery',
    '/v1/overview?hours=2160',
    '/v1/usage',
    '/openapi.json',
  ].map((path) => inputOf('the longest texts', { method: 'GET', path, headers: { Authorization: `Bearer ${key}` } }))

/** Paths that lead nowhere. */
export const strayInputs = (): Input[] =>
  Object.entries({ slashes: '/', parents: '/..', escapes: '/%2e', semicolons: ';/', letters: 'a' }).map(
    ([name, text]) => inputOf(`a path of ${name}`, { method: 'GET', path: `/${filledWith(text, HEAD_BYTES)}` }),
  )
