import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, test } from 'bun:test'
import { ROUTES } from '../../src/app.ts'
import { RELEASE, VERSION } from '../../src/version.ts'
import { createWorld } from '../support/world.ts'

const COMMITTED = `${import.meta.dir}/../../docs/openapi.json`

test('the document is valid OpenAPI 3.0.3 and equals the committed one', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const text = await (await world.call('GET', '/openapi.json', { key: null })).text()
  const document = JSON.parse(text)
  expect(document.info.version).toBe(VERSION)
  // The committed document does not change with each commit.
  document.info.version = RELEASE
  if (Bun.env['UPDATE_OPENAPI'] !== undefined) await Bun.write(COMMITTED, `${JSON.stringify(document, null, 2)}\n`)
  expect(document).toEqual(JSON.parse(await Bun.file(COMMITTED).text()))
  await SwaggerParser.validate(document)
})

test('the document has every endpoint with the errors of the contract', async () => {
  const document = JSON.parse(await Bun.file(COMMITTED).text()) as {
    paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>
  }
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(
    ROUTES.map((route) => `${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted(),
  )
  const errorsOf = (path: string, method: string, status: number): string =>
    document.paths[path]?.[method]?.responses[String(status)]?.description ?? ''
  expect(errorsOf('/v1/sms/send', 'post', 400)).toContain('to, from, and body are required')
  expect(errorsOf('/v1/apps/register', 'post', 400)).toContain('Tenant not found or not active')
  expect(errorsOf('/v1/sms/status/{messageId}', 'get', 404)).toContain('Message not found')
  expect(errorsOf('/v1/apps', 'get', 401)).toContain('Missing or invalid API key')
})

test('the page loads scripts and styles only from the gateway, and its policy allows no others', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('GET', '/docs', { key: null })
  const page = await response.text()
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toStartWith("default-src 'self';")
  expect(page).toContain('SwaggerUIBundle({"url":"/openapi.json"')
  const loaded = [...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]*)"/g)].map(([, address]) => address)
  expect(loaded).toEqual(['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'])
  for (const path of loaded) expect((await world.call('GET', path ?? '', { key: null })).status).toBe(200)
})
