import { Database } from 'bun:sqlite'

/** `stopped`: the patient has opted out. */
export type AppointmentStatus = 'booked' | 'reminded' | 'confirmed' | 'stopped' | 'failed'

export interface Appointment {
  id: string
  /** E.164. */
  phone: string
  /** ISO 8601. */
  at: string
  status: AppointmentStatus
  /** The message with the reminder; null until the gateway has accepted it. */
  messageId: string | null
  /** The message that confirmed it. */
  answerId: string | null
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS appointments (id TEXT PRIMARY KEY, phone TEXT NOT NULL, at TEXT NOT NULL,
    status TEXT NOT NULL, messageId TEXT UNIQUE, answerId TEXT UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`

/** The appointments, and what this app must remember across a restart, in one SQLite file. */
export class Appointments {
  readonly #database: Database

  constructor(path: string) {
    this.#database = new Database(path, { create: true, strict: true })
    this.#database.run(SCHEMA)
  }

  add(phone: string, at: Date): Appointment {
    const id = crypto.randomUUID()
    const sql = "INSERT INTO appointments (id, phone, at, status) VALUES (?, ?, ?, 'booked')"
    this.#database.run(sql, [id, phone, at.toISOString()])
    return this.#one('id = ?', id) as Appointment
  }

  get(id: string): Appointment | null {
    return this.#one('id = ?', id)
  }

  /** The appointment that this message has confirmed. If there is none, confirms the sender's next one, if there is one. */
  confirm(answerId: string, phone: string): Appointment | null {
    const sql = `UPDATE appointments SET status = 'confirmed', answerId = ?1
      WHERE id = (SELECT id FROM appointments WHERE phone = ?2 AND status IN ('booked', 'reminded') ORDER BY at LIMIT 1)
        AND NOT EXISTS (SELECT 1 FROM appointments WHERE answerId = ?1)`
    this.#database.run(sql, [answerId, phone])
    return this.#one('answerId = ?', answerId)
  }

  /** Those whose reminder the gateway has not accepted yet. */
  withoutReminder(): Appointment[] {
    return this.#database
      .query<Appointment, []>("SELECT * FROM appointments WHERE messageId IS NULL AND status = 'booked'")
      .all()
  }

  setMessage(id: string, messageId: string): void {
    this.#database.run('UPDATE appointments SET messageId = ? WHERE id = ?', [messageId, id])
  }

  setFailed(id: string): void {
    this.#database.run("UPDATE appointments SET status = 'failed' WHERE id = ?", [id])
  }

  /** What happened to a reminder. An answer that arrived before this news stays. */
  setOutcome(messageId: string, status: AppointmentStatus): void {
    const sql = "UPDATE appointments SET status = ? WHERE messageId = ? AND status IN ('booked', 'stopped')"
    this.#database.run(sql, [status, messageId])
  }

  /** The patient has opted out, or in again. */
  setStopped(phone: string, hasStopped: boolean): void {
    const [from, to] = hasStopped ? ['booked', 'stopped'] : ['stopped', 'booked']
    this.#database.run('UPDATE appointments SET status = ? WHERE phone = ? AND status = ?', [
      to,
      phone,
      from,
    ] as string[])
  }

  /** Where the events were read up to. */
  get cursor(): string | undefined {
    return this.#database.query<{ value: string }, []>("SELECT value FROM facts WHERE name = 'cursor'").get()?.value
  }

  set cursor(value: string) {
    this.#database.run("REPLACE INTO facts VALUES ('cursor', ?)", [value])
  }

  close(): void {
    this.#database.close()
  }

  #one(where: string, value: string): Appointment | null {
    return this.#database.query<Appointment, [string]>(`SELECT * FROM appointments WHERE ${where}`).get(value)
  }
}
