import { errorText } from '../../core/errors.ts'
import { jsonAnswer } from '../../core/json-answer.ts'
import type { LeaseReport } from '../../operator/lease/report.ts'
import type { Finding } from '../../operator/doctor/finding.ts'
import type { LocalApp } from '../../operator/socket.ts'
import { stopServer } from '../../operator/stop.ts'

export interface StandbyCommands {
  report(): LeaseReport
  diagnose(): Promise<Finding[]>
}

/** The requests that a standby answers for the operator on its machine. All other commands need the active gateway. */
export function standbyApp({ report, diagnose }: StandbyCommands): LocalApp {
  const answers: Readonly<Record<string, () => unknown>> = {
    'GET /v1/operator/lease': report,
    'GET /v1/operator/doctor': diagnose,
    'POST /v1/operator/stop': stopServer,
  }
  return {
    async handle(request) {
      const answer = answers[`${request.method} ${new URL(request.url).pathname}`]
      return answer === undefined
        ? jsonAnswer({ error: errorText('standby') }, { status: 503 })
        : jsonAnswer(await answer())
    },
  }
}
