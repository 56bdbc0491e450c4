/** `/_system`: health, readiness, metrics, diagnosis, master key, and backups. */
import * as z from 'zod'
import type { Agent } from '../../src/agent/agent.ts'
import { CreateBackup, MadeBackup } from '../../src/operations/backup/manifest.ts'
import { Diagnosis } from '../../src/operations/doctor/check.ts'
import { diagnoseAgent } from '../../src/operations/doctor/diagnose.ts'
import { readinessChecks } from '../../src/operations/readiness.ts'
import { MasterKeyRotation, RotateMasterKey } from '../../src/wallet/key-rotation.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { greetNode } from '../nodes/greet.ts'
import { metricsContentType, metricsMedia, renderMetrics } from '../http/metrics.ts'
import { route } from '../http/route.ts'
import { version } from '../http/version.ts'

/** Below the time limit of a check, so that the finding names the reason. */
const greetTimeoutMs = 3_000

const Health = z.object({ version: z.string() }).meta({ id: 'HealthInfo' })

const Readiness = z
  .object({
    status: z.enum(['ready', 'not ready']),
    reasons: z.array(z.object({ check: z.enum(readinessChecks), detail: z.string() })),
  })
  .meta({ id: 'Readiness' })

const Node = z
  .object({
    name: z.string(),
    address: z.string().describe('The address that the other nodes send requests to.'),
    release: z.string(),
    startedAt: z.iso.datetime(),
    state: z
      .enum(['running', 'draining', 'ended'])
      .describe(
        '`draining`: it gives its wallets to the others. `ended`: its lease has ended without a stop.',
      ),
    shards: z
      .int()
      .describe('The number of its shards, of 256. A hash of the id of a wallet selects the shard.'),
    answers: z.boolean().describe('Whether this node has answered the request.'),
  })
  .meta({ id: 'Node' })

type ListedNode = Awaited<ReturnType<NonNullable<Agent['nodes']>['list']>>[number]

function toNode({ name, address, release, startedAt, isDraining, remainingMs, shards, isSelf }: ListedNode) {
  const state = isDraining ? ('draining' as const) : ('running' as const)
  return {
    name,
    address,
    release,
    startedAt: startedAt.toISOString(),
    state: remainingMs > 0 ? state : ('ended' as const),
    shards,
    answers: isSelf,
  }
}

const NodeName = z.string().max(63)

/** @throws {Problem} `NotFound` */
async function setDraining({ nodes }: Agent, name: string, isDraining: boolean) {
  const isKnown = (await nodes?.setDraining(name, isDraining)) ?? false
  const node = isKnown ? (await nodes!.list()).find((each) => each.name === name) : undefined
  if (!node) throw new Problem('NotFound', `There is no node ${name}. GET /_system/nodes lists the nodes.`)
  return toNode(node)
}

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
    'GET /_system/ready',
    {
      summary: 'Read whether the agent can serve: 200 or 503',
      operationId: 'systemReady',
      extension: true,
      access: 'public',
      media: ['application/json'],
      reply: [200, Readiness],
      failures: { statuses: [503], bodies: { 'application/json': Readiness } },
    },
    async ({ agent }) => {
      const reasons = await agent.readiness.check()
      const isReady = reasons.length === 0
      return {
        status: isReady ? 200 : 503,
        type: 'application/json' as const,
        body: { status: isReady ? 'ready' : 'not ready', reasons },
      }
    },
  ),

  route(
    'GET /_system/metrics',
    {
      summary: 'Read the metrics of the agent, as Prometheus does',
      operationId: 'systemMetrics',
      access: 'metrics',
      media: [metricsMedia],
      reply: [200, z.string()],
    },
    async ({ agent }) => {
      if (!agent.config.METRICS_ENABLED)
        throw new Problem('NotFound', 'This agent has no metrics. METRICS_ENABLED=true switches them on.')
      const body = await renderMetrics(agent.env.metrics)
      return { type: metricsMedia, body, headers: { 'Content-Type': metricsContentType } }
    },
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
            'Whether SQLite checks every database file, which reads all of them; over PostgreSQL, whether the key of every wallet unseals its seed. This takes up to ten minutes.',
          ),
      }),
      reply: [200, Diagnosis],
    },
    ({ agent }, { query: { deep } }) => {
      const { nodes } = agent
      const greet = (address: string) => greetNode(agent.getPeerKey(), address, greetTimeoutMs)
      return diagnoseAgent(agent, {
        isDeep: deep === 'true',
        ...(nodes && { self: { name: nodes.name, greet } }),
      })
    },
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
      summary: 'Make a backup of all data while the agent runs',
      operationId: 'createBackup',
      extension: true,
      access: 'admin',
      body: CreateBackup,
      reply: [201, MadeBackup],
    },
    async ({ agent }, { body }) => {
      const made = await agent.backups.create({ ...body, agentVersion: version })
      agent.log.info({ count: made.wallets, ms: made.heldMs }, 'a backup was made')
      return agent.nodes ? { ...made, node: agent.nodes.name } : made
    },
  ),

  route(
    'GET /_system/nodes',
    {
      summary: 'List the nodes of an agent over PostgreSQL',
      operationId: 'getNodes',
      extension: true,
      access: 'admin',
      reply: [200, z.object({ contents: z.array(Node) }).meta({ id: 'NodeList' })],
    },
    async ({ agent }) => ({ contents: ((await agent.nodes?.list()) ?? []).map(toNode) }),
  ),

  route(
    'PUT /_system/nodes/{name}/draining',
    {
      summary: 'Have a node give its wallets to the others',
      operationId: 'drainNode',
      extension: true,
      access: 'admin',
      path: { name: NodeName },
      reply: [200, Node],
    },
    ({ agent }, { path: { name } }) => setDraining(agent, name, true),
  ),

  route(
    'DELETE /_system/nodes/{name}/draining',
    {
      summary: 'Have a node that was drained take its share of the wallets again',
      operationId: 'undrainNode',
      extension: true,
      access: 'admin',
      path: { name: NodeName },
      reply: [200, Node],
    },
    ({ agent }, { path: { name } }) => setDraining(agent, name, false),
  ),
] as const
