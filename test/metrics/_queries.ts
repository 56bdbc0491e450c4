/** The expressions of the dashboard and of the alerts. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import * as z from 'zod'

const operate = new URL('../../docs/operate/', import.meta.url)
export const alertsFile = fileURLToPath(new URL('prometheus-alerts.yml', operate))

const Panel = z.object({
  id: z.number(),
  title: z.string(),
  type: z.string(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(z.object({ refId: z.string(), expr: z.string() })).default([]),
})
const Dashboard = z.object({
  uid: z.string(),
  schemaVersion: z.number(),
  panels: z.array(Panel),
  templating: z.object({ list: z.array(z.object({ name: z.string(), definition: z.string().optional() })) }),
  annotations: z.object({ list: z.array(z.object({ expr: z.string() })) }),
})
const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
})

export const dashboard = Dashboard.parse(
  JSON.parse(readFileSync(new URL('grafana-dashboard.json', operate), 'utf8')),
)
export const rules = Rules.parse(parse(readFileSync(alertsFile, 'utf8'))).groups.flatMap(
  (group) => group.rules,
)

export type Query = { where: string; expr: string }

/** The queries of the panels, as Grafana sends them for all jobs and instances. */
export const panelQueries: Query[] = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({
    where: title,
    expr: expr.replaceAll(/\$(?:job|instance)/g, '.*').replaceAll('$__rate_interval', '1m'),
  })),
)
export const ruleQueries: Query[] = rules.map(({ alert, expr }) => ({ where: alert, expr }))
