import { z } from 'zod'
import { VERSION } from '../../../core/version.ts'
import type { Route } from '../route.ts'
import { sharedErrors } from './errors.ts'
import { HEADERS } from './headers.ts'
import { type Json, NamedSchemas } from './named-schemas.ts'
import { APP_SECURITY, INTERNAL_TAG, operationOf } from './operation.ts'
import { type PostedEvent, webhooksOf } from './posted-events.ts'
import { SharedParameters } from './shared-parameters.ts'

const ErrorResponse = z
  .object({ error: z.string().meta({ description: 'What is wrong, for people and programs', example: 'Not found' }) })
  .meta({ id: 'ErrorResponse' })

/** The OpenAPI document of these endpoints and of the webhooks that the gateway posts. */
export function documentOf(routes: readonly Route[], events: readonly PostedEvent[]): Json {
  const schemas = new NamedSchemas()
  const shared = { schemas, parameters: new SharedParameters(schemas) }
  schemas.of(ErrorResponse, 'output')
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shared) }
  }
  const webhooks = webhooksOf(events, shared)
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [SERVER],
    security: APP_SECURITY,
    tags: tagsOf(routes),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: schemas.components,
      parameters: shared.parameters.components,
      headers: HEADERS,
      responses: sharedErrors(),
    },
  }
}

const INFO = {
  title: 'sgw',
  /** The version of the API, not of the program: the contract's. Additions do not change it. */
  version: '1.0.0',
  'x-build': VERSION,
  summary: 'A self-hosted SMS gateway',
  description:
    'Sends and receives SMS through a RingCentral account. Every error is `{"error": string}`, and every answer carries `X-Request-Id`.',
  contact: { name: 'The operator of your gateway' },
  license: { name: 'MIT', identifier: 'MIT' },
}

/** The page and its tools replace the variable with the address from which they were loaded. */
const SERVER = {
  url: '{baseUrl}',
  description: 'Your gateway',
  variables: { baseUrl: { default: 'http://localhost:3000', description: 'Its PUBLIC_URL' } },
}

const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sgw_…',
    description: "An app's API key, shown once when the app is registered or its key is rotated",
  },
  operatorToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sgw_op_…',
    description:
      "The token of an operator's session. With `Sgw-App` it may call every endpoint as that app; a suspended tenant and an inactive app can only be read",
  },
  actingApp: {
    type: 'apiKey',
    in: 'header',
    name: 'Sgw-App',
    description: 'The app (`app_…`) that an operator acts as. Without an `operatorToken` it has no effect',
  },
}

const TAGS: Record<string, string> = {
  Health: 'Whether the server runs',
  SMS: 'Send messages, and see what became of them',
  Apps: 'The apps of a tenant: keys, webhook addresses',
  'Provider connection': 'Connect extensions of the RingCentral account, and see their health',
  Webhooks: 'What the gateway posts to apps and triggers, and the log of it',
  Triggers: 'Additional addresses for inbound messages',
  'Opt-outs': 'Contacts that do not want messages anymore',
  Conversations: 'Messages by contact',
  Usage: 'Figures of the tenant',
  WebSocket: 'Events as they happen',
  Events: 'Events after a cursor',
  Operator: 'Tenants, apps and the state of the gateway, for its operator',
  [INTERNAL_TAG]: 'Called by browsers and by the provider, not by programs. Generated clients can leave them out',
}

function tagsOf(routes: readonly Route[]): Json[] {
  const used = new Set(routes.map(({ tag, internal }) => (internal === true ? INTERNAL_TAG : tag)))
  return [...used].map((name) => ({ name, description: TAGS[name] ?? name }))
}
