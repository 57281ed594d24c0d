export interface BannerFacts {
  url: string
  apiKey: string
  from: string
  databasePath: string
}

/** The text that a start in development prints: everything that a developer needs to send a first SMS, ready to paste. */
export const banner = ({ url, apiKey, from, databasePath }: BannerFacts): string => `
  sgw listens on    ${url}            API documentation: ${url}/docs
  API key           ${apiKey}
  Database          ${databasePath}
  The built-in simulator stands in for RingCentral; its numbers end in 0100, 0101 and 0102.

  Send your first SMS:

curl -s ${url}/v1/sms/send -H 'Authorization: Bearer ${apiKey}' -d '{"from":"${from}","to":"+15555550199","body":"Hello from sgw"}'

  Then see what became of it:

curl -s '${url}/v1/sms/messages?limit=1' -H 'Authorization: Bearer ${apiKey}'

`
