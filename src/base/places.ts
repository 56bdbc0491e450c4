/**
 * The environment variables that say where a daemon and its folders are. They are apart from the others since every command reads them, and a
 * command is to begin at once.
 */
import { join } from 'node:path'
import envPaths from 'env-paths'
import { z } from 'zod'

const port = z.coerce.number().int().min(0).max(65_535)

const usualDataDir = () => envPaths('identity-agent', { suffix: '' }).data

/** The data folder of a profile that names none: the profile `local` has the folder itself, each other one a folder in it. */
export function defaultDataDir(profile: string): string {
  return profile === 'local' ? usualDataDir() : join(usualDataDir(), 'profiles', profile)
}

// prettier-ignore
export const places = {
  AGENT_DATA_DIR:                       z.string().min(1).default(usualDataDir)
                                                               .describe('Folder of `agent.db`, `audit.db`, `wallets/`, `vdr.db` and `master.key` (ours).'),
  AGENT_CONFIG_DIR:                     z.string().min(1).default(() => envPaths('identity-agent', { suffix: '' }).config)
                                                               .describe('Folder of the command line’s profiles (ours).'),
  AGENT_PROFILE:                        z.string().regex(/^[a-z0-9-]+$/i, 'is not made of letters, digits and hyphens').default('local')
                                                               .describe('Profile that the daemon writes and the command line reads (ours).'),
  AGENT_HOST:                           z.string().min(1).default('127.0.0.1')
                                                               .describe('Address that both servers bind (ours).'),
  AGENT_HTTP_PORT:                      port.default(8085)     .describe('Port of the HTTP API; 0 takes a free one, and the same again at the next start.'),
  AGENT_DIDCOMM_PORT:                   port.default(8090)     .describe('Port of the DIDComm endpoint; 0 takes a free one, and the same again at the next start.'),
}
