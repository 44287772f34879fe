"""The model of the test teams: whatever answers at MODEL_URL."""

import os

from autogen_ext.models.openai import OpenAIChatCompletionClient

INFO = {"vision": False, "function_calling": True, "json_output": True, "structured_output": True, "family": "unknown", "multiple_system_messages": True}


def model():
    return OpenAIChatCompletionClient(model="rules", base_url=os.environ["MODEL_URL"], api_key="not-a-key", model_info=INFO)
