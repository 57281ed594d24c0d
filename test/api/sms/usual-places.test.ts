import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { TOOL_PLACES } from '../../../src/api/sms/usual-places.ts'
import { textsOf } from '../../support/recipes.ts'
import { FROM, TO, createWorld } from '../../support/world.ts'

/** What each tool posts, as its documentation or source has it, without members that say nothing here. */
const POSTED: readonly (readonly [tool: string, body: object, text: string])[] = [
  [
    'Sentry',
    {
      action: 'triggered',
      actor: { id: 'sentry', name: 'Sentry', type: 'application' },
      data: {
        event: {
          culprit: '?(<anonymous>)',
          level: 'error',
          message: '',
          metadata: { type: 'ReferenceError', value: 'heck is not defined' },
          title: 'ReferenceError: heck is not defined',
        },
        triggered_rule: 'Very Important Alert Rule!',
      },
    },
    'ReferenceError: heck is not defined',
  ],
  [
    'Sentry',
    {
      action: 'resolved',
      data: {
        description_text: '1000 events in the last 10 minutes\nFilter: level:error',
        description_title: 'Resolved: Too many errors',
        metric_alert: { alert_rule: { aggregate: 'count()', name: 'Too many errors' } },
      },
    },
    'Resolved: Too many errors',
  ],
  [
    'Sentry',
    { action: 'created', data: { issue: { id: '1170820242', title: 'Timeout in checkout', status: 'unresolved' } } },
    'Timeout in checkout',
  ],
  [
    'Sentry',
    { action: 'created', data: { error: { title: 'Error: x is undefined', type: 'error' } } },
    'Error: x is undefined',
  ],
  [
    'Sentry',
    { project: 'shop', culprit: 'app.views', message: '', level: 'error', event: { title: 'KeyError: id' } },
    'KeyError: id',
  ],
  [
    'PagerDuty',
    {
      event: {
        id: '5ac64822-4adc-4fda-ade0-410becf0de4f',
        event_type: 'incident.triggered',
        resource_type: 'incident',
        occurred_at: '2026-10-02T18:45:22.169Z',
        data: { id: 'PGR0VU2', type: 'incident', number: 2, status: 'triggered', title: 'A little bump in the road' },
      },
    },
    'A little bump in the road',
  ],
  [
    'PagerDuty',
    { messages: [{ event: 'incident.trigger', incident: { id: 'PRORDTY', title: 'The disk of db1 is full' } }] },
    'The disk of db1 is full',
  ],
  [
    'PagerDuty',
    {
      routing_key: 'R0',
      event_action: 'trigger',
      payload: { summary: 'DISK at 99% on db1', source: 'db1', severity: 'critical' },
    },
    'DISK at 99% on db1',
  ],
  [
    'UniFi',
    {
      alarm: {
        name: 'Person at the gate',
        sources: [{ device: '74ACB99F4E24', type: 'include' }],
        conditions: [{ condition: { type: 'is', source: 'person' } }],
        triggers: [{ key: 'person', device: '74ACB99F4E24', eventId: 'test123' }],
      },
      timestamp: 1_722_526_793_954,
    },
    'Person at the gate',
  ],
  [
    'UniFi',
    {
      app: 'network',
      customContent: null,
      deviceEventClassId: '400',
      message: 'phone connected to Home on U6-Lite',
      name: 'WiFi Client Connected',
      parameters: { UNIFIcategory: 'Monitoring', UNIFIhost: 'Dream Machine' },
    },
    'phone connected to Home on U6-Lite',
  ],
  [
    'Zabbix',
    {
      URL: 'https://sms.example.com',
      HTTPProxy: '',
      To: 'on-call',
      Subject: 'Problem: High CPU utilization',
      Message: 'Problem started at 02:30:00\nHost: db1',
    },
    'Problem: High CPU utilization',
  ],
  [
    'Zabbix',
    { 'ALERT.MESSAGE': 'Problem started', 'ALERT.SUBJECT': 'Problem: db1 is down', 'EVENT.NAME': 'db1 is down' },
    'Problem: db1 is down',
  ],
  ['Zabbix', { 'EVENT.NAME': 'Free disk space is low', 'EVENT.SEVERITY': 'High' }, 'Free disk space is low'],
  [
    'Amazon SNS and CloudWatch',
    {
      Type: 'Notification',
      MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
      TopicArn: 'arn:aws:sns:us-west-2:123456789012:alarms',
      Subject: 'ALARM: "cpu-high" in US West (Oregon)',
      Message: '{"AlarmName":"cpu-high","NewStateValue":"ALARM"}',
    },
    'ALARM: "cpu-high" in US West (Oregon)',
  ],
  [
    'Amazon SNS and CloudWatch',
    { Type: 'Notification', Subject: null, Message: 'Hello from a topic' },
    'Hello from a topic',
  ],
  [
    'Amazon SNS and CloudWatch',
    { AlarmName: 'cpu-high', AlarmDescription: null, NewStateValue: 'ALARM', NewStateReason: 'Threshold Crossed' },
    'cpu-high',
  ],
  [
    'Amazon SNS and CloudWatch',
    {
      version: '0',
      'detail-type': 'CloudWatch Alarm State Change',
      detail: { alarmName: 'ServerCpuTooHigh', state: { value: 'ALARM' } },
    },
    'ServerCpuTooHigh',
  ],
  [
    'Azure Monitor',
    {
      schemaId: 'azureMonitorCommonAlertSchema',
      data: { essentials: { alertRule: 'WCUS-R2-Gen2', severity: 'Sev3', monitorCondition: 'Resolved' } },
    },
    'WCUS-R2-Gen2',
  ],
  [
    'Google Cloud Monitoring',
    {
      incident: {
        incident_id: '0.lsnwib31sglo',
        policy_name: 'CPU Usage',
        state: 'open',
        summary: 'CPU usage for db1 is above the threshold of 0.6 with a value of 0.9.',
      },
      version: '1.2',
    },
    'CPU usage for db1 is above the threshold of 0.6 with a value of 0.9.',
  ],
  ['Google Cloud Monitoring', { incident: { policy_name: 'CPU Usage', summary: null } }, 'CPU Usage'],
  [
    'Better Stack',
    {
      event: 'started',
      data: { id: '1', type: 'incident', attributes: { name: 'example.com homepage', cause: 'Error 500' } },
    },
    'example.com homepage',
  ],
  [
    'Statuspage',
    { page: { id: 'j2mfxwj97wnj' }, incident: { name: 'Virginia is down', status: 'identified' } },
    'Virginia is down',
  ],
  [
    'Opsgenie',
    { action: 'Create', alert: { alertId: '052652ac', message: 'Our servers are in danger', priority: 'P1' } },
    'Our servers are in danger',
  ],
  [
    'Graylog',
    {
      event_definition_id: 'this-is-a-test-notification',
      event_definition_title: 'Login failed too often',
      event: { message: 'Login failed too often - 5 times', priority: 2 },
      backlog: [],
    },
    'Login failed too often',
  ],
  ['Graylog', { event: { message: 'Notification test message', priority: 2 } }, 'Notification test message'],
  [
    'Rollbar',
    { event_name: 'new_item', data: { item: { id: 272_716_944, title: 'testing aobg98wrwe' } } },
    'testing aobg98wrwe',
  ],
  [
    'Splunk',
    { sid: 'scheduler_admin_search', search_name: 'Errors of the shop', result: { count: '8' } },
    'Errors of the shop',
  ],
  [
    'Pingdom',
    { check_id: 12_345, check_name: 'Name of HTTP check', current_state: 'DOWN', previous_state: 'UP' },
    'Name of HTTP check',
  ],
  [
    'UptimeRobot',
    { monitorID: '777', monitorFriendlyName: 'Shop', alertTypeFriendlyName: 'Down', alertDetails: 'Timeout' },
    'Shop',
  ],
  ['New Relic', { condition_name: 'Error rate', current_state: 'open', severity: 'CRITICAL' }, 'Error rate'],
  [
    'Proxmox, and tools for Discord',
    { content: null, embeds: [{ title: 'vzdump of pve1 failed', description: 'Details', color: 16_711_680 }] },
    'vzdump of pve1 failed',
  ],
  [
    'Proxmox, and tools for Discord',
    { content: '``` Replication of 100 failed ```' },
    '``` Replication of 100 failed ```',
  ],
  ['Proxmox, and tools for Discord', { embeds: [{ description: 'Only a description' }] }, 'Only a description'],
  [
    'Proxmox, and tools for Discord',
    { title: 'vzdump backup status', message: 'Backup of 100 failed', severity: 'error', fields: { hostname: 'pve1' } },
    'Backup of 100 failed',
  ],
  [
    'Tools for Slack',
    { channel: '#ops', attachments: [{ fallback: '[FIRING:1] DiskFull', title: 'DiskFull', color: 'danger' }] },
    '[FIRING:1] DiskFull',
  ],
  ['Tools for Slack', { attachments: [{ title: 'Deploy failed', text: 'Job 7' }] }, 'Deploy failed'],
  ['Tools for Slack', { attachments: [{ text: 'Job 7 failed' }] }, 'Job 7 failed'],
  ['Tools for Slack', { blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'db1 is down' } }] }, 'db1 is down'],
  [
    'Healthchecks',
    { now: '2026-11-28T13:00:00Z', check: { name: 'Backup of db1', slug: 'backup-of-db1', status: 'down' } },
    'Backup of db1',
  ],
  ['Healthchecks', { name: 'Backup of db1', slug: 'backup-of-db1', desc: '', status: 'down' }, 'Backup of db1'],
  [
    'Cronitor',
    { id: 'UH6G3i', rule: 'request_triggered', monitor: 'shop', description: 'Your healthcheck has failed.' },
    'Your healthcheck has failed.',
  ],
]

test('without a template the title arrives that each tool posts', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const path = `/v1/sms/notify?${new URLSearchParams({ from: FROM, to: TO })}`
  for (const [tool, body] of POSTED)
    expect([tool, (await world.call('POST', path, { body })).status]).toEqual([tool, 202])
  expect(await textsOf(world)).toEqual(POSTED.map(([, , text]) => [TO, text]))
})

test('each tool has a body, and the manual has its places in the order in which they are tried', () => {
  expect(new Set(POSTED.map(([tool]) => tool))).toEqual(new Set(TOOL_PLACES.map(([tool]) => tool)))
  const manual = readFileSync('docs/recipes.md', 'utf8')
  const rows = TOOL_PLACES.map(
    ([tool, ...places]) => `| ${tool} | ${places.map((place) => `\`${place}\``).join(', ')} |`,
  )
  expect(manual).toContain(rows.join('\n'))
})
