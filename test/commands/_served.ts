/** A user whose commands find an agent in this process, as if `agent daemon start` had started it. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeProfile } from '../../src/base/profile.ts'
import { adminToken, startAgent, type TestAgent } from '../_agent.ts'
import type { User } from './_cli.ts'

/** Starts an agent in the folders of a user and writes its profile. Removing the user removes its data. */
export async function serveUser(
  { folder }: User,
  variables: Record<string, string> = {},
): Promise<TestAgent> {
  const [dataDir, configDir] = [join(folder, 'data'), join(folder, 'config')]
  mkdirSync(dataDir, { mode: 0o700 })
  const served = await startAgent({ ...variables, AGENT_CONFIG_DIR: configDir }, { dataDir })
  const { url, didcommUrl, agent } = served
  writeProfile(configDir, agent.config.AGENT_PROFILE, {
    kind: 'local',
    url,
    didcommUrl,
    adminToken,
    ...(agent.defaultApiKey && { apiKey: agent.defaultApiKey.reveal() }),
    dataDir,
    pid: process.pid,
    startedAt: new Date().toISOString(),
  })
  return served
}
