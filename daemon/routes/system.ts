/** `/_system` and `/docs/openapi.json`: health, diagnosis, master key, backups, and the API document. */
import * as z from 'zod'
import type { Agent } from '../../src/agent.ts'
import { CreateBackup, MadeBackup } from '../../src/backup/manifest.ts'
import { Diagnosis } from '../../src/doctor/check.ts'
import { diagnoseAgent } from '../../src/doctor/diagnose.ts'
import { MasterKeyRotation, RotateMasterKey } from '../../src/wallet/key-rotation.ts'
import { openapi, type OpenApi } from '../http/openapi.ts'
import { route } from '../http/route.ts'
import { version } from '../http/version.ts'

const Health = z.object({ version: z.string() }).meta({ id: 'HealthInfo' })

/** The API documents by agent, built at the first request. */
const documents = new WeakMap<Agent, OpenApi>()

export default [
  route(
    'GET /_system/health',
    {
      summary: 'Read the version of the agent',
      operationId: 'systemHealth',
      access: 'public',
      reply: [200, Health],
    },
    () => Promise.resolve({ version }),
  ),

  route(
    'GET /_system/doctor',
    {
      summary: 'Diagnose the agent: data folder, ledger, addresses, and waiting work',
      operationId: 'getDiagnosis',
      extension: true,
      access: 'admin',
      query: z.object({
        deep: z
          .enum(['true', 'false'])
          .optional()
          .describe(
            'Whether SQLite checks every database file, which reads all of them. This takes up to ten minutes.',
          ),
      }),
      reply: [200, Diagnosis],
    },
    ({ agent }, { query: { deep } }) => diagnoseAgent(agent, { isDeep: deep === 'true' }),
  ),

  route(
    'POST /_system/master-key/rotation',
    {
      summary: 'Rotate the master key while the agent runs',
      operationId: 'rotateMasterKey',
      extension: true,
      access: 'admin',
      body: RotateMasterKey,
      reply: [200, MasterKeyRotation],
    },
    async ({ agent }, { body, log }) => {
      const rotation = await agent.rotateMasterKey(body.newKey)
      log.info({ source: rotation.source, isReplaced: rotation.isReplaced }, 'the master key was rotated')
      return rotation
    },
  ),

  route(
    'POST /_system/backups',
    {
      summary: 'Make a backup of the data folder while the agent runs',
      operationId: 'createBackup',
      extension: true,
      access: 'admin',
      body: CreateBackup,
      reply: [201, MadeBackup],
    },
    async ({ agent }, { body }) => {
      const made = await agent.backups.create({ ...body, agentVersion: version })
      agent.log.info({ count: made.wallets, ms: made.heldMs }, 'a backup was made')
      return made
    },
  ),

  route(
    'GET /docs/openapi.json',
    {
      summary: 'Read this document',
      operationId: 'getOpenApiDocument',
      extension: true,
      access: 'public',
      reply: [200, z.looseObject({ openapi: z.literal('3.1.0') })],
    },
    ({ routes, agent }) => {
      const document = documents.get(agent) ?? openapi(routes, { version, url: agent.env.urls.rest })
      documents.set(agent, document)
      return Promise.resolve(document)
    },
  ),
] as const
