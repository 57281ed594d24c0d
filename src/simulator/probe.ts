import { type Call, json, type Reply } from './http.ts'
import type { World } from './world.ts'

/**
 * `GET /restapi` (RingCentral API reference, "Get API versions"). Clients use it to check that the platform is
 * reachable.
 */
export function probe(world: World, _call: Call): Reply {
  const version = { uriString: 'v1.0', versionString: '1.0.60', releaseDate: '2026-03-01T00:00:00.000Z' }
  return json(200, {
    uri: `${world.url}/restapi`,
    apiVersions: [{ uri: `${world.url}/restapi/v1.0`, ...version }],
    serverVersion: '26.3.1.10210249',
    serverRevision: 'simulator',
  })
}
