import { expect, test } from 'bun:test'
import { recipe, textsOf } from '../support/recipes.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

// Each request is as the tool makes it: recorded (Apprise 2.3.0), from its documentation (Grafana 11, Alertmanager 0.27), or as its
// source builds it (Uptime Kuma 2, Home Assistant 2024). The shell recipes are in recipes.long.ts.

const TO_2 = '+15555550198'
const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

interface Posted {
  url: string
  headers?: Record<string, string>
  body: object
}

async function post({ url, headers = {}, body }: Posted): Promise<number> {
  const all = { 'content-type': 'application/json', ...headers }
  const answer = await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) })
  await answer.body?.cancel()
  return answer.status
}

const bearer = (world: World): Record<string, string> => ({ authorization: `Bearer ${world.key}` })

const HEARTBEAT = {
  monitorID: 1,
  status: 0,
  time: '2026-11-26 02:30:00.123',
  msg: 'connect ECONNREFUSED 10.0.0.5:5432',
  ping: null,
  important: true,
  duration: 60,
  retries: 0,
  timezone: 'Europe/Berlin',
  timezoneOffset: '+01:00',
  localDateTime: '2026-11-26 03:30:00',
}
const MONITOR = {
  id: 1,
  name: 'db1',
  type: 'port',
  hostname: '10.0.0.5',
  port: 5432,
  active: true,
  interval: 60,
  tags: [],
}

test('Uptime Kuma: its msg arrives, also of a test, and a template of the monitor', async () => {
  await using world = await quiet()
  const [url = '', headers = ''] = recipe(world, 'Uptime Kuma')
  const msg = '[db1] [🔴 Down] connect ECONNREFUSED 10.0.0.5:5432'
  const own = JSON.parse(headers) as Record<string, string>
  expect(await post({ url, headers: own, body: { heartbeat: HEARTBEAT, monitor: MONITOR, msg } })).toBe(202)
  expect(await post({ url, headers: own, body: { heartbeat: null, monitor: null, msg: 'My alert Testing' } })).toBe(202)
  const text = '&text=%7B%7Bmonitor.name%7D%7D:%20%7B%7Bheartbeat.msg%7D%7D'
  expect(await post({ url: url + text, headers: own, body: { heartbeat: HEARTBEAT, monitor: MONITOR, msg } })).toBe(202)
  expect(await post({ url: url + text, headers: own, body: { heartbeat: null, monitor: null, msg: 'Testing' } })).toBe(
    202,
  )
  expect(await textsOf(world)).toEqual([
    [TO, msg],
    [TO, 'My alert Testing'],
    [TO, 'db1: connect ECONNREFUSED 10.0.0.5:5432'],
    [TO, ':'],
  ])
})

const LABELS = { alertname: 'DiskFull', instance: 'db1:9100', job: 'node', severity: 'critical' }
const ANNOTATIONS = { summary: 'The disk of db1 is full', description: '97 % of /var are in use' }
const ALERT = {
  status: 'firing',
  labels: LABELS,
  annotations: ANNOTATIONS,
  startsAt: '2026-11-26T02:30:00.123Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus:9090/graph?g0.expr=disk&g0.tab=1',
  fingerprint: '989b0a76f5d22d7f',
}

test('Alertmanager: the template of the recipe is the text, when it fires and when it is resolved', async () => {
  await using world = await quiet()
  const [yaml = ''] = recipe(world, 'Alertmanager')
  const { receivers } = Bun.YAML.parse(yaml) as { receivers: { webhook_configs: { url: string }[] }[] }
  const url = receivers[0]?.webhook_configs[0]?.url ?? ''
  const body = {
    receiver: 'sms',
    status: 'firing',
    alerts: [ALERT],
    groupLabels: { alertname: 'DiskFull' },
    commonLabels: LABELS,
    commonAnnotations: ANNOTATIONS,
    externalURL: 'http://alertmanager:9093',
    version: '4',
    groupKey: '{}:{alertname="DiskFull"}',
    truncatedAlerts: 0,
  }
  expect(await post({ url, headers: bearer(world), body })).toBe(202)
  expect(
    await post({ url, headers: bearer(world), body: { ...body, status: 'resolved', commonAnnotations: {} } }),
  ).toBe(202)
  const plain = url.replace(/&text=.*/, '')
  expect(await post({ url: plain, headers: bearer(world), body: { ...body, commonAnnotations: {} } })).toBe(202)
  expect(await textsOf(world)).toEqual([
    [TO, 'firing: DiskFull The disk of db1 is full'],
    [TO, 'resolved: DiskFull'],
    [TO, 'The disk of db1 is full'],
  ])
})

test('Grafana: its title arrives', async () => {
  await using world = await quiet()
  const [url = ''] = recipe(world, 'Grafana')
  const title = '[FIRING:1] High memory usage (blue us-1)'
  const values = {
    values: { B: 44.23943737541908, C: 1 },
    silenceURL: 'https://grafana/silence',
    dashboardURL: '',
    panelURL: '',
  }
  const body = {
    receiver: 'My Super Webhook',
    status: 'firing',
    orgId: 1,
    alerts: [{ ...ALERT, ...values, valueString: "[ var='B' labels={} value=44.2 ]" }],
    groupLabels: {},
    commonLabels: { team: 'blue' },
    commonAnnotations: {},
    externalURL: 'https://play.grafana.org/',
    version: '1',
    groupKey: '{}:{}',
    truncatedAlerts: 0,
    title,
    state: 'alerting',
    message: '**Firing**\n\nValue: B=44.2, C=1\nLabels:\n - alertname = High memory usage\n',
  }
  expect(await post({ url, headers: bearer(world), body })).toBe(202)
  expect(await textsOf(world)).toEqual([[TO, title]])
})

test('Apprise: both of its addresses arrive, as it turns them into requests', async () => {
  await using world = await quiet()
  const [send = '', notify = ''] = recipe(world, 'Apprise')
  const common = { version: '1.0', title: 'Disk', message: 'db1 is full', attachments: [], type: 'info' }
  expect([await post(appriseRequest(send, common)), await post(appriseRequest(notify, common))]).toEqual([202, 202])
  expect(await textsOf(world)).toEqual([
    [TO, 'db1 is full'],
    [TO, 'Disk db1 is full'],
    [TO_2, 'Disk db1 is full'],
  ])
})

/** As Apprise 2.3.0 does: `+` is a header, `-` a parameter of the query, `:` another name for a member, or a further one. */
function appriseRequest(address: string, payload: Record<string, unknown>): Posted {
  const { host, pathname, search } = new URL(address.replace('json:', 'http:'))
  const headers: Record<string, string> = {}
  const query = new URLSearchParams()
  const body = { ...payload }
  for (const part of search.slice(1).split('&')) {
    const [name = '', value = ''] = part.split('=').map((text) => decodeURIComponent(text))
    const key = name.slice(1)
    if (name.startsWith('+')) headers[key] = value
    else if (name.startsWith('-')) query.set(key, value)
    else if (key in body) {
      body[value] = body[key]
      delete body[key]
    } else body[key] = value
  }
  return { url: `http://${host}${pathname}${query.size > 0 ? `?${query}` : ''}`, headers, body }
}

test('Home Assistant: the rest notifier sends, and the webhook trigger gets what its template reads', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const [yaml = '', automation = ''] = recipe(world, 'Home Assistant')
  const { notify } = Bun.YAML.parse(yaml) as { notify: RestNotifier[] }
  const [rest] = notify
  if (rest === undefined) throw new Error('The recipe has no notifier')
  expect([rest.platform, rest.method]).toEqual(['rest', 'POST_JSON'])
  const body = { [rest.message_param_name]: 'The door is open', [rest.target_param_name]: TO, ...rest.data }
  expect(await post({ url: rest.resource, headers: rest.headers, body })).toBe(202)
  expect(await textsOf(world)).toEqual([[TO, 'The door is open']])
  await world.call('PUT', `/v1/apps/${world.app.appId}`, {
    body: { webhookUrl: new URL('/api/webhook/sms-of-mine', receiver.url) },
  })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Status' })
  const [posted] = await receiver.received(1)
  expect([posted?.method, posted?.path]).toEqual(['POST', '/api/webhook/sms-of-mine'])
  expect(posted?.headers['content-type']).toBe('application/json')
  const read = [...automation.matchAll(/trigger\.json\.(\w+)/g)].map(([, name = '']) => posted?.body[name])
  expect(read).toEqual(['sms_inbound', 'Status', TO])
})

interface RestNotifier {
  platform: string
  resource: string
  method: string
  headers: Record<string, string>
  message_param_name: string
  target_param_name: string
  data: Record<string, string>
}

test('n8n: the node that can be pasted sends', async () => {
  await using world = await quiet()
  const [text = ''] = recipe(world, 'n8n')
  const { nodes } = JSON.parse(text) as { nodes: { parameters: NodeParameters }[] }
  const { url, method, bodyParameters } = nodes[0]?.parameters ?? ({} as NodeParameters)
  expect(method).toBe('POST')
  const members = bodyParameters.parameters.map(({ name, value }) => [
    name,
    value.replace('={{ $json.message }}', 'The order is late'),
  ])
  expect(await post({ url, headers: bearer(world), body: Object.fromEntries(members) as object })).toBe(202)
  expect(await textsOf(world)).toEqual([[TO, 'The order is late']])
})

interface NodeParameters {
  url: string
  method: string
  bodyParameters: { parameters: { name: string; value: string }[] }
}
