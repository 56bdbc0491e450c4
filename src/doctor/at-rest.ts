/** The examination of a data folder that no daemon answers for: what is there, and what would stand in the way of a start. Changes nothing. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../base/config.ts'
import { openAgentDbToRead } from '../storage/database.ts'
import { run, type Diagnosis, type Finding } from './check.ts'
import { checkDataFolder } from './data-folder.ts'
import { checkDisk } from './disk.ts'
import { filesOf, judgeFiles, lookThrough } from './files.ts'
import { checkMasterKey } from './master-key.ts'
import { checkFreePorts } from './ports.ts'

/** Examines a folder; never throws for what it finds. `limitMs` is the longest that a check may take. */
export async function examineAtRest(config: Config, limitMs = 10_000): Promise<Diagnosis> {
  const folder = config.AGENT_DATA_DIR
  const isThere = existsSync(folder)
  const isUsed = existsSync(join(folder, 'agent.db'))
  const checks: Readonly<Record<string, () => Promise<Finding>>> = {
    ports: () => checkFreePorts(config),
    'data-folder': () =>
      isThere
        ? checkDataFolder(folder)
        : Promise.resolve({
            status: 'ok',
            detail: `There is no data folder ${folder} yet; the first start makes it.`,
          }),
    ...(isThere && { disk: () => checkDisk(folder) }),
    ...(isUsed && {
      'master-key': () => checkKeyAtRest(config),
      databases: async () => {
        const ids = await readWalletIds(folder)
        const looked = await lookThrough(filesOf(config, ids), { timeMs: limitMs - 1_000, isAtRest: true })
        return judgeFiles(folder, looked)
      },
    }),
  }
  return {
    checks: await Promise.all(Object.entries(checks).map(([name, check]) => run(name, check, limitMs))),
  }
}

async function checkKeyAtRest(config: Config): Promise<Finding> {
  await using db = openAgentDbToRead(join(config.AGENT_DATA_DIR, 'agent.db'))
  return await checkMasterKey(config, db)
}

/** None of a file that is damaged, which is found out when it is looked through. */
async function readWalletIds(folder: string): Promise<string[]> {
  try {
    await using db = openAgentDbToRead(join(folder, 'agent.db'))
    return (await db.selectFrom('wallet').select('id').execute()).map(({ id }) => id)
  } catch {
    return []
  }
}
