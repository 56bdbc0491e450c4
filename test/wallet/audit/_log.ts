/** Audit logs in temporary folders. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AuditLog, type AuditOptions } from '../../../src/wallet/audit/audit-log.ts'
import { openAuditDb } from '../../../src/foundation/storage/database.ts'
import { createLog } from '../../../src/foundation/log.ts'
import { soleOwnership } from '../../../src/cluster/ownership.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'

const key = () => new Uint8Array(32).fill(7)

export type TestLog = Awaited<ReturnType<typeof openLog>>

/** Opens a log in a given folder, or in a temporary one. */
export async function openLog(options: Partial<AuditOptions> = {}, given?: string) {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'audit-'))
  const path = join(folder, 'audit.db')
  const logged: string[] = []
  const log = createLog('warn', { write: (line) => void logged.push(line) })
  const audit = await AuditLog.open(() => openAuditDb(path), {
    key: key(),
    log,
    retentionSeconds: 86_400,
    refusalsPerMinute: 10,
    processes: soleOwnership,
    ...options,
  })
  let isOpen = true
  const close = async () => {
    if (isOpen) await audit[Symbol.asyncDispose]()
    isOpen = false
  }
  return {
    audit,
    folder,
    path,
    logged,
    close,
    entries: (filter: Parameters<AuditLog['list']>[0] = {}) =>
      audit.list(filter, { offset: 0, limit: 10_000 }),
    async [Symbol.asyncDispose]() {
      await close()
      if (given === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs an action that succeeds at once. */
export const act = (audit: AuditLog, action: string, subject?: Record<string, string>) =>
  audit.during(
    { actor: 'admin', action, requestId: `request-of-${action}`, ...(subject && { subject }) },
    (begin) => begin(),
  )

/** Changes the file of a log directly, as an attacker without the key could. */
export function tamper(path: string, statement: string): void {
  const database = openSqlite(path)
  database.exec(statement)
  database.close()
}

/** Copies a folder as it is now, which is the state that a killed daemon leaves. */
export function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'audit-'))
  cpSync(folder, copy, { recursive: true })
  return copy
}

/** Runs `work` with a probe that is called at every step (src/foundation/probe.ts). */
export async function probed<T>(probe: (point: string) => void, work: () => Promise<T>): Promise<T> {
  const probeKey = Symbol.for('identity-agent.probe')
  const around = globalThis as { [probeKey]?: typeof probe }
  const before = around[probeKey]
  around[probeKey] = probe
  try {
    return await work()
  } finally {
    if (before) around[probeKey] = before
    else delete around[probeKey]
  }
}
