import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/core/config.ts'
import { PROJECT } from '../support/program.ts'

interface Service {
  environment?: Record<string, string>
  ports?: string[]
  networks?: unknown
  logging?: unknown
}

interface Compose {
  services: Record<string, Service>
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>
}

const read = (path: string): Compose => Bun.YAML.parse(readFileSync(join(PROJECT, path), 'utf8')) as Compose

const HOME = read('compose.home.yaml')
const { environment = {}, ports, ...shutIn }: Service = HOME.services['sgw'] ?? {}

/** Replaces `${NAME:-default}` as Compose does with these lines of `.env`. */
const withEnv = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+):-([^}]*)\}/, (_, variable: string, fallback: string) => values[variable] ?? fallback),
    ]),
  )

test('compose.home.yaml needs the app and a JWT alone, and its own network may use plain HTTP', () => {
  const env = { RC_CLIENT_ID: 'client-of-ours', RC_CLIENT_SECRET: 'client-key-of-ours', RC_JWT: 'a.b.c' }
  const subnet = HOME.networks['home']?.ipam.config[0]?.subnet ?? ''
  expect(readConfig({ values: { ...env, ...withEnv(env) }, readFile: () => '' })).toMatchObject({
    ok: true,
    warnings: [],
    config: {
      production: true,
      host: '0.0.0.0',
      hasPublicUrl: false,
      plainHttpCidrs: [subnet],
      webhookAllowCidrs: [subnet],
    },
  })
  expect(withEnv({ PLAIN_HTTP_CIDRS: '192.168.1.0/24' })).toMatchObject({ PLAIN_HTTP_CIDRS: '192.168.1.0/24' })
})

test('its port is for the server alone, and the container is shut in as that of compose.yaml is', () => {
  expect(ports).toEqual(['127.0.0.1:3000:3000'])
  const {
    environment: _environment,
    networks: _networks,
    logging: _logging,
    ...public_
  } = read('compose.yaml').services['sgw'] ?? {}
  expect(shutIn).toMatchObject(public_)
})
