/** Settings of earlier releases: a start ignores them, and says what to do. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure } from '../../../src/foundation/config/configure.ts'
import { settingsPath, writeSettings } from '../../../src/foundation/config/settings.ts'
import { newFolder } from '../../support/folder.ts'

const reason = `is ignored: an agent over SQLite files is one process. To use more cores, run several nodes over PostgreSQL (docs/operate/postgresql.md). Then remove the setting.`

test('AGENT_WORKERS in the environment, flags or a file is ignored, with a warning that names the way out', async () => {
  const folder = newFolder()
  const env = { AGENT_CONFIG_DIR: folder, AGENT_DATA_DIR: join(folder, 'data') }
  const path = join(folder, 'agent.yaml')
  writeFileSync(path, 'AGENT_WORKERS: 4\nAGENT_HTTP_PORT: 9085\n')
  expect((await configure({ ...env, AGENT_WORKERS: '4' }, [])).warnings).toEqual([
    `AGENT_WORKERS in the environment ${reason}`,
  ])
  expect((await configure(env, ['AGENT_WORKERS=4'])).warnings).toEqual([
    `AGENT_WORKERS in the flags ${reason}`,
  ])
  const { warnings, config } = await configure({ ...env, AGENT_CONFIG_FILE: path }, [])
  expect(warnings).toEqual([`AGENT_WORKERS in ${path} ${reason}`])
  expect(config.AGENT_HTTP_PORT).toBe(9085)
})

test('a start removes AGENT_WORKERS from the settings of the profile', async () => {
  const folder = newFolder()
  const env = { AGENT_CONFIG_DIR: folder, AGENT_DATA_DIR: join(folder, 'data') }
  writeSettings(folder, 'local', { AGENT_WORKERS: '2', AGENT_HTTP_PORT: '9085' })
  const path = settingsPath(folder, 'local')
  const first = await configure(env, [])
  expect(first.warnings).toEqual([`AGENT_WORKERS in ${path} ${reason}`])
  first.remember({ rest: 9085, didcomm: 8090 })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    AGENT_DATA_DIR: join(folder, 'data'),
    AGENT_HTTP_PORT: 9085,
  })
  expect((await configure(env, [])).warnings).toEqual([])
})
