import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { programOf } from '../../src/foundation/program.ts'

test('a program from the sources starts without a build', async () => {
  const { code, isSource } = programOf(
    new URL('../../src/credentials/schemas/claims.ts', import.meta.url).href,
    'schema-worker',
  )
  expect(isSource).toBe(true)
  const thread = new Worker(code, { env: {}, eval: isSource })
  expect(await once(thread, 'message')).toEqual(['ready'])
  await thread.terminate()
})

test('a program of the bundle is the file beside it', () => {
  const { code, isSource } = programOf('file:///opt/agent/dist/daemon/agent.cjs', 'schema-worker')
  expect([String(code), isSource]).toEqual(['file:///opt/agent/dist/daemon/schema-worker.js', false])
})
