import manifest from '../../package.json' with { type: 'json' }
import { COMMIT } from './build.ts'

/** The version in package.json: a release, or the next one with `-dev`. */
export const RELEASE: string = manifest.version

/** The version of this program. Between releases it has the commit: `1.1.0-dev+0a1b2c3`. */
export const VERSION: string = RELEASE.endsWith('-dev') && COMMIT !== null ? `${RELEASE}+${COMMIT}` : RELEASE
