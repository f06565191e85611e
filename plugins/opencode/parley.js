// Written by "parley connect opencode". "parley disconnect opencode" removes this file.
//
// It runs "parley hook opencode EVENT" with JSON on standard input. The hook prints nothing, or a JSON object:
//   context   text for the model, from the agent's inbox
//   prompt    text that begins a turn
//   status    "allow" or "deny", for a permission, and the reason
import { spawn } from "node:child_process"

const command = ["parley", "hook", "opencode", "--agent", "opencode"]

function start(event, input) {
  const [program, ...words] = command
  const child = spawn(program, [...words.slice(0, 2), event, ...words.slice(2)], { stdio: ["pipe", "pipe", "ignore"] })
  const answer = new Promise((resolve) => {
    let text = ""
    child.on("error", () => resolve({}))
    child.stdout.on("data", (chunk) => (text += chunk))
    child.on("close", () => {
      try {
        resolve(JSON.parse(text))
      } catch {
        resolve({})
      }
    })
  })
  child.stdin.on("error", () => {})
  child.stdin.end(JSON.stringify(input))
  return { child, answer }
}

export const Parley = async ({ client, directory }) => {
  const begun = new Set() // the sessions that know of the inbox
  const waiting = new Map() // the hooks that wait for mail, by session
  const asking = new Map() // the permissions about which a person is asked in Parley, with session and hook
  const input = (sessionID, more) => ({ sessionID, cwd: directory, ...more })
  const run = (event, sessionID, more) => start(event, input(sessionID, more)).answer
  // Mail is for the agent, and not for one of its subagents, whose sessions have a parent.
  const isSubagent = async (sessionID) => {
    const session = await client.session.get({ path: { id: sessionID } }).catch(() => undefined)
    return Boolean(session?.data?.parentID)
  }
  const stop = (sessionID) => {
    waiting.get(sessionID)?.kill()
    waiting.delete(sessionID)
  }
  const wait = async (sessionID) => {
    stop(sessionID)
    const { child, answer } = start("session.idle", input(sessionID))
    waiting.set(sessionID, child)
    const { prompt } = await answer
    if (waiting.get(sessionID) === child) waiting.delete(sessionID)
    if (prompt) await client.session.promptAsync({ path: { id: sessionID }, body: { parts: [{ type: "text", text: prompt }] } })
  }
  // The tool with all its arguments. OpenCode says of a permission only what its dialog shows.
  const callOf = async ({ sessionID, tool }) => {
    if (!tool) return undefined
    const message = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } }).catch(() => undefined)
    const part = message?.data?.parts?.find((part) => part.callID === tool.callID)
    return part && { tool: part.tool, input: part.state?.input }
  }
  const stopAsking = (isOver) => {
    for (const [id, { sessionID, child }] of [...asking]) {
      if (!isOver(id, sessionID)) continue
      asking.delete(id)
      child?.kill()
    }
  }
  // OpenCode shows its dialog meanwhile, and the first answer counts.
  const ask = async (permission) => {
    const { id, sessionID } = permission
    const asked = { sessionID }
    asking.set(id, asked)
    const call = await callOf(permission)
    if (!asking.has(id)) return // the person was faster
    const { child, answer } = start("permission.asked", input(sessionID, { ...permission, call }))
    asked.child = child
    const { status, reason } = await answer
    if (!asking.delete(id)) return
    if (status === "allow") await reply(permission, { reply: "once" })
    if (status === "deny") await reply(permission, { reply: "reject", message: reason })
  }
  // The declared method of the client cannot pass a message, without which OpenCode ends the turn and tells the model nothing.
  const reply = ({ id, sessionID }, body) =>
    client._client?.post
      ? client._client.post({ url: "/permission/{id}/reply", path: { id }, body, headers: { "Content-Type": "application/json" } })
      : client.postSessionIdPermissionsPermissionId({ path: { id: sessionID, permissionID: id }, body: { response: body.reply } })
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "permission.asked") void ask(event.properties).catch(() => {}) // the dialog remains
      if (event.type === "permission.replied") stopAsking((asked) => asked === event.properties.requestID)
      if (event.type === "session.idle" || event.type === "session.deleted") stopAsking((_, session) => session === id)
      if (event.type === "session.idle" && begun.has(id)) void wait(id)
      if (event.type === "session.deleted") {
        stop(id)
        begun.delete(id)
        await run("session.deleted", id)
      }
    },
    "chat.message": async ({ sessionID }, output) => {
      if (!begun.has(sessionID) && (await isSubagent(sessionID))) return
      stop(sessionID)
      const first = begun.has(sessionID) ? {} : await run("session.created", sessionID)
      begun.add(sessionID)
      const mail = await run("chat.message", sessionID)
      const text = output.parts.findLast((part) => part.type === "text")
      for (const { context } of [first, mail]) if (context && text) text.text += "\n\n" + context
    },
    "tool.execute.after": async ({ sessionID, tool }, output) => {
      if (!begun.has(sessionID)) return
      const { context } = await run("tool.execute.after", sessionID, { tool_name: tool })
      if (context) output.output += "\n\n" + context
    },
    dispose: async () => {
      stopAsking(() => true)
      for (const id of [...waiting.keys()]) stop(id)
    },
  }
}
