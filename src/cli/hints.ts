import { errorText } from '../core/errors.ts'

/** Advice at the terminal for errors whose texts the API fixes. */
const HINTS: Readonly<Record<string, string>> = {
  [errorText('appActive')]: ': sgw app rotate-key APP gives it a new key',
  [errorText('appInactive')]: ': sgw app activate APP activates it, with a new key',
  [errorText('appNotFound')]: ': list the apps with sgw app list --tenant TENANT',
  [errorText('tenantNotFound')]: ': list them with sgw tenant list',
  [errorText('notFound')]: ': the server may be older than this program',
}

export const hintOf = (error: string): string => HINTS[error] ?? ''
