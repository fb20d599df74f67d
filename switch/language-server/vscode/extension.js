// Starts `p4sched lsp` for P4 files, and ends it with the editor.

const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const settings = workspace.getConfiguration("p4sched");
  const includes = settings.get("includes").flatMap((folder) => ["-I", folder]);
  const server = { command: settings.get("command"), args: ["lsp", ...includes] };
  client = new LanguageClient("p4sched", "P4", server, {
    documentSelector: [{ language: "p4" }],
  });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`'${server.command} lsp' does not start: set "p4sched.command" (${error.message})`);
  }
};

exports.deactivate = () => client?.stop();
