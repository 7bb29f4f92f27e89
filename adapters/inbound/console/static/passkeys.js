// Makes and uses passkeys: a form asks the server for a challenge, the browser answers it, and the form is sent.
"use strict";

(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const known = (list) => (list ?? []).map((each) => ({ ...each, id: bytes(each.id) }));

  async function challenge(form) {
    const headers = { "x-csrf-token": document.querySelector('meta[name="csrf"]').content };
    const answer = await fetch(form.dataset.options, { method: "POST", headers });
    const content = await answer.json();
    if (!answer.ok) throw new Error(content.error);
    return { state: content.state, options: JSON.parse(content.options) };
  }

  function create(options) {
    const user = { ...options.user, id: bytes(options.user.id) };
    const excludeCredentials = known(options.excludeCredentials);
    const publicKey = { ...options, user, excludeCredentials, challenge: bytes(options.challenge) };
    return navigator.credentials.create({ publicKey });
  }

  function get(options) {
    const allowCredentials = known(options.allowCredentials);
    return navigator.credentials.get({ publicKey: { ...options, allowCredentials, challenge: bytes(options.challenge) } });
  }

  function written(credential) {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = text(credential.response[name]);
    }
    const { id, type } = credential;
    return JSON.stringify({ id, rawId: text(credential.rawId), type, response, clientExtensionResults: {} });
  }

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const fault = document.getElementById("passkey-fault");
      fault.hidden = true;
      try {
        const { state, options } = await challenge(form);
        const credential = await (form.dataset.passkey === "create" ? create(options) : get(options));
        form.elements.state.value = state;
        form.elements.credential.value = written(credential);
        form.submit();
      } catch (error) {
        fault.textContent = error.name === "NotAllowedError" ? "The browser used no passkey. Try again." : error.message;
        fault.hidden = false;
      }
    });
    form.hidden = !window.PublicKeyCredential;
  }
})();
