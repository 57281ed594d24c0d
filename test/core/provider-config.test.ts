import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'

const FIX = 'copy it from your app in the RingCentral developer console'
const APP = { RC_CLIENT_ID: 'client-of-ours', RC_CLIENT_SECRET: 'client-key-of-ours' }

/** `files`: the text of each file that a `NAME_FILE` may name. */
const read = (values: Record<string, string>, files: Record<string, string> = {}) => {
  const result = readConfig({
    values,
    readFile: (path) => {
      const text = files[path]
      if (text === undefined) throw new Error('ENOENT')
      return text
    },
  })
  return result.ok ? result.config.provider : result.problems
}

test('RC_JWT, or the file that RC_JWT_FILE names, is the JWT of the app', () => {
  expect(read({ ...APP, RC_JWT: ' eyJhbGciOi.e30.c2ln\r\n' })).toMatchObject({ jwt: 'eyJhbGciOi.e30.c2ln' })
  expect(read({ ...APP, RC_JWT_FILE: 'jwt.txt' }, { 'jwt.txt': 'eyJhbGciOi.e30.c2ln\n' })).toMatchObject({
    jwt: 'eyJhbGciOi.e30.c2ln',
    simulated: false,
  })
  expect(read(APP)).toMatchObject({ jwt: null })
})

test('a JWT without its app is said, instead of being left unused beside the built-in simulator', () => {
  expect(read({ RC_JWT: 'eyJhbGciOi.e30.c2ln' })).toEqual([
    `RC_CLIENT_ID is not set: ${FIX}`,
    `RC_CLIENT_SECRET is not set: ${FIX}`,
  ])
})

test('a variable for a path that has the secret itself does not show it', () => {
  for (const [name, secret] of [
    ['RC_JWT', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI2Mjk4OTAwMTYifQ.mtlie1wqqBqYVwChfFVf'],
    ['RC_CLIENT_SECRET', 'mtlie1wqqBqYVwChfFVfdY'],
    ['ENCRYPTION_KEYS', 'bXRsaWUxd3FxQnFZVndDaGZGVmZkWXZFTzhXTnhmVW4='],
    ['ALERT_URL', 'https://hooks.example.com/services/mtlie1wqqBqYVwChfFVf'],
  ] as const) {
    const { [name as 'RC_CLIENT_SECRET']: _, ...app } = APP
    expect(read({ ...app, [`${name}_FILE`]: secret })).toEqual(
      expect.arrayContaining([
        `${name}_FILE is not the path of a readable file; perhaps it is the secret itself: give the path of a file that contains it, or set ${name}`,
      ]),
    )
    expect(JSON.stringify(read({ ...app, [`${name}_FILE`]: secret }))).not.toContain(secret)
  }
  for (const path of [
    '/run/secrets/rc_client_secret_of_ours',
    './secrets-of-the-gateway/client',
    'a-long-name-of-a-file.txt',
  ])
    expect(read({ ...APP, RC_JWT_FILE: path })).toEqual([
      `RC_JWT_FILE names "${path}", which cannot be read: check the path and its permissions`,
    ])
})

test('a file of a JWT that cannot be read, or is empty, stops the start, and so do two JWTs and a placeholder', () => {
  expect(read({ ...APP, RC_JWT_FILE: 'gone.txt' })).toEqual([
    'RC_JWT_FILE names "gone.txt", which cannot be read: check the path and its permissions',
  ])
  expect(read({ ...APP, RC_JWT_FILE: 'empty.txt' }, { 'empty.txt': '\n' })).toEqual([
    'RC_JWT_FILE names "empty.txt", which is empty: put the value into it',
  ])
  expect(read({ ...APP, RC_JWT: 'a.b.c', RC_JWT_FILE: 'jwt.txt' })).toEqual([
    'RC_JWT and RC_JWT_FILE are both set: keep one of them',
  ])
  expect(read({ ...APP, RC_JWT: 'changeme' })).toEqual(['RC_JWT is a placeholder: put the real value in'])
})
