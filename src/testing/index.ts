export { startTestGateway, type TestGateway, type TestGatewayOptions } from './test-gateway.ts'
export type { ReceivedMedia, ReceivedSms, SmsMatch, TestPhone } from './phone.ts'
export type { ProviderFault, TestProvider } from './provider.ts'
