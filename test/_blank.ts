/** Databases that have their tables and nothing in them, made once for all agents of a process: making the tables is a third of a first start. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAgentDb, openAuditDb } from '../src/storage/database.ts'

const open = { 'agent.db': openAgentDb, 'audit.db': openAuditDb }

let blank: Promise<[name: string, bytes: Buffer][]> | undefined

/** Puts them into a data folder that is empty: what an agent leaves behind that is killed at its first start, before it has made its keys. */
export async function putBlankDatabases(dataDir: string): Promise<void> {
  for (const [name, bytes] of await (blank ??= make())) writeFileSync(join(dataDir, name), bytes, { mode: 0o600 })
}

async function make(): Promise<[string, Buffer][]> {
  const folder = mkdtempSync(join(tmpdir(), 'identity-agent-blank-'))
  try {
    const made: [string, Buffer][] = []
    for (const [name, openDb] of Object.entries(open)) {
      const path = join(folder, name)
      await (await openDb(path)).destroy()
      made.push([name, readFileSync(path)])
    }
    return made
  } finally {
    rmSync(folder, { recursive: true })
  }
}
