/**
 * `daemon.json` in the data folder: the process that serves the folder, and its addresses. It holds no
 * secrets.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

export const Running = z.object({
  pid: z.int().positive(),
  url: z.url(),
  didcommUrl: z.url(),
  certificate: z
    .string()
    .optional()
    .describe('The SHA-256 fingerprint of the certificate of both servers, with HTTPS.'),
  startedAt: z.iso.datetime(),
  store: z
    .string()
    .optional()
    .describe('Where the data is: `SQLite files`, or the address of the PostgreSQL database.'),
  node: z.string().optional().describe('The name of the node, over PostgreSQL.'),
  calls: z
    .string()
    .optional()
    .describe('Which addresses the daemon calls when a tenant or a peer names them, and why.'),
  /** The profile that the daemon has written. */
  profile: z.string().optional(),
  /** The flags of the start, such as `AGENT_HTTP_PORT=9000`, and the names of the variables that it read. */
  flags: z.array(z.string()).optional(),
  environment: z.array(z.string()).optional(),
  /** False in the foreground of a terminal or a service. */
  isBackground: z.boolean().optional(),
  service: z
    .object({ manager: z.enum(['systemd', 'launchd']), name: z.string(), isSystem: z.boolean() })
    .optional(),
})
export type Running = z.infer<typeof Running>

/** Reads the file of the last daemon, whose process may have ended; undefined when it cannot be read. */
export function readRunning(dataDir: string): Running | undefined {
  try {
    return Running.parse(JSON.parse(readFileSync(path(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

/** Replaces the file atomically. */
export function writeRunning(dataDir: string, running: Running): void {
  const temporary = `${path(dataDir)}.${process.pid}`
  try {
    writeFileSync(temporary, `${JSON.stringify(running, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, path(dataDir))
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Removes the file when the daemon stops. */
export function removeRunning(dataDir: string): void {
  rmSync(path(dataDir), { force: true })
}

function path(dataDir: string): string {
  return join(dataDir, 'daemon.json')
}
