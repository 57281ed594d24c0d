/** Where people's own programs, and Grafana, Alertmanager and Uptime Kuma, put the text of an alert. */
const COMMON_PLACES: readonly string[] = [
  'text',
  'message',
  'msg',
  'title',
  'summary',
  'commonAnnotations.summary',
  'alerts.0.annotations.summary',
  'commonAnnotations.description',
  'commonAnnotations.message',
  'alerts.0.annotations.description',
  'alerts.0.annotations.message',
  'commonLabels.alertname',
]

/**
 * Where other tools put the title of an alert, according to their documentation. Each has a body in `test/api/sms/usual-places.test.ts` and a
 * row in `docs/recipes.md`. Names that many programs use come last.
 */
export const TOOL_PLACES: readonly (readonly [tool: string, ...places: string[]])[] = [
  ['Sentry', 'data.event.title', 'data.description_title', 'data.issue.title', 'data.error.title', 'event.title'],
  ['PagerDuty', 'event.data.title', 'messages.0.incident.title', 'payload.summary'],
  ['UniFi', 'alarm.name'],
  ['Zabbix', 'Subject', 'ALERT.SUBJECT', 'EVENT.NAME', 'Message'],
  ['Amazon SNS and CloudWatch', 'Subject', 'Message', 'AlarmName', 'detail.alarmName'],
  ['Azure Monitor', 'data.essentials.alertRule'],
  ['Google Cloud Monitoring', 'incident.summary', 'incident.policy_name'],
  ['Better Stack', 'data.attributes.name'],
  ['Statuspage', 'incident.name'],
  ['Opsgenie', 'alert.message'],
  ['Graylog', 'event_definition_title', 'event.message'],
  ['Rollbar', 'data.item.title'],
  ['Splunk', 'search_name'],
  ['Pingdom', 'check_name'],
  ['UptimeRobot', 'monitorFriendlyName'],
  ['New Relic', 'condition_name'],
  ['Proxmox, and tools for Discord', 'content', 'embeds.0.title', 'embeds.0.description'],
  ['Tools for Slack', 'attachments.0.fallback', 'attachments.0.title', 'attachments.0.text', 'blocks.0.text.text'],
  ['Healthchecks', 'check.name', 'name'],
  ['Cronitor', 'description'],
]

/** Without a template, the first of these that is a text with a visible character is sent. */
export const USUAL_PLACES: readonly string[] = [...COMMON_PLACES, ...TOOL_PLACES.flatMap(([, ...places]) => places)]
